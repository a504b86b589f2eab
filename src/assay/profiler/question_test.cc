#include "assay/profiler/question.h"

#include <array>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "assay/op/gemm/gemm.h"
#include "assay/op/testing/with_epilogue.h"

namespace assay::profiler {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;
using ::testing::StartsWith;

Problem made(const gemm::Shape& shape) {
  auto problem = gemm::problem(shape);
  EXPECT_TRUE(problem) << problem.error().message;
  return *problem;
}

// Where an element lies in packed memory, as the tool reads "f16:row".
std::size_t place(const std::string& operand, std::int64_t rows, std::int64_t columns,
                  std::int64_t row, std::int64_t column) {
  return static_cast<std::size_t>(operand.ends_with(":row") ? row * columns + column
                                                            : column * rows + row);
}

// out = a b over packed memory, as cutlass_profiler would do what it is asked.
std::vector<int> tool(const Question& asked, const std::vector<int>& a, const std::vector<int>& b) {
  std::vector<int> out(static_cast<std::size_t>(asked.m * asked.n));
  for (std::int64_t i = 0; i < asked.m; ++i)
    for (std::int64_t j = 0; j < asked.n; ++j)
      for (std::int64_t p = 0; p < asked.k; ++p)
        out[place(asked.out, asked.m, asked.n, i, j)] +=
            a[place(asked.a, asked.m, asked.k, i, p)] * b[place(asked.b, asked.k, asked.n, p, j)];
  return out;
}

std::vector<int> ours(const gemm::View& v, const std::vector<int>& a, const std::vector<int>& b) {
  std::vector<int> out(static_cast<std::size_t>(v.m * v.n));
  for (std::int64_t i = 0; i < v.m; ++i)
    for (std::int64_t j = 0; j < v.n; ++j)
      for (std::int64_t p = 0; p < v.k; ++p)
        out[static_cast<std::size_t>(i * v.out_m + j * v.out_n)] +=
            a[static_cast<std::size_t>(i * v.a_m + p * v.a_k)] *
            b[static_cast<std::size_t>(p * v.b_k + j * v.b_n)];
  return out;
}

// However it is asked, the bytes in memory are those of the problem.
TEST(Question, EveryWayToAskIsTheSameProblem) {
  for (const char* layout : {"tt", "tn", "nt", "nn", "ttn", "tnn", "ntn", "nnn"}) {
    for (const std::array<int, 3> sizes : {std::array{3, 4, 5}, {1, 4, 5}, {3, 1, 5}, {3, 4, 1}}) {
      SCOPED_TRACE(std::string(layout) + " " + std::to_string(sizes[0]) + " " +
                   std::to_string(sizes[1]) + " " + std::to_string(sizes[2]));
      gemm::Shape shape;
      shape.m = sizes[0];
      shape.n = sizes[1];
      shape.k = sizes[2];
      shape.dtype = DType::f16;
      shape.layout = layout;
      const Problem asked = made(shape);
      const auto view = gemm::view(asked);
      ASSERT_TRUE(view);
      std::vector<int> a(static_cast<std::size_t>(shape.m * shape.k)),
          b(static_cast<std::size_t>(shape.k * shape.n));
      for (std::size_t i = 0; i < a.size(); ++i) a[i] = static_cast<int>(i * i + 1);
      for (std::size_t i = 0; i < b.size(); ++i) b[i] = static_cast<int>(7 * i + 3);
      const auto ways = questions(asked);
      ASSERT_TRUE(ways) << ways.error().message;
      for (const Question& way : *ways)
        EXPECT_EQ(tool(way, way.swapped ? b : a, way.swapped ? a : b), ours(*view, a, b));
    }
  }
}

TEST(Question, StockKernelsWriteColumnsSoThatComesFirst) {
  gemm::Shape shape;
  shape.m = 8;
  shape.n = 16;
  shape.k = 32;
  shape.dtype = DType::bf16;
  auto ways = questions(made(shape));
  ASSERT_TRUE(ways);
  ASSERT_THAT(*ways, SizeIs(2));
  EXPECT_TRUE(ways->front().swapped);
  EXPECT_EQ(ways->front().out, "bf16:column");
  EXPECT_FALSE(ways->back().swapped);
  shape.layout = "tnn";
  ways = questions(made(shape));
  ASSERT_TRUE(ways);
  ASSERT_THAT(*ways, SizeIs(1));
  EXPECT_EQ(ways->front().out, "bf16:column");
  EXPECT_FALSE(ways->front().swapped);
}

TEST(Question, ScalarsBatchAndC) {
  gemm::Shape shape;
  shape.m = 8;
  shape.n = 16;
  shape.k = 32;
  shape.batch = 3;
  shape.dtype = DType::f16;
  auto ways = questions(made(shape));
  ASSERT_TRUE(ways);
  EXPECT_THAT(ways->front().arguments, Contains("--batch_count=3"));
  EXPECT_THAT(ways->front().arguments, Not(Contains(StartsWith("--C="))));
  shape.alpha = 0.5;
  shape.beta = 2;
  ways = questions(made(shape));
  ASSERT_TRUE(ways) << ways.error().message;
  EXPECT_THAT(ways->front().arguments, Contains("--alpha=0.5"));
  EXPECT_THAT(ways->front().arguments, Contains("--beta=2"));
  EXPECT_THAT(ways->front().arguments, Contains("--C=f16:column"));
}

TEST(Question, WhatTheToolHasNoWordsForIsUnsupported) {
  gemm::Shape shape;
  shape.m = 8;
  shape.n = 16;
  shape.k = 32;
  shape.dtype = DType::f16;
  gemm::Shape gaps = shape;
  gaps.lda = 40;
  const Problem fused = testing::with_epilogue(made(shape), "relu");
  for (const auto& [asked, word] :
       {std::pair(made(gaps), "lines of a"), std::pair(fused, "relu")}) {
    const auto ways = questions(asked);
    ASSERT_FALSE(ways);
    EXPECT_EQ(ways.error().code, ErrorCode::unsupported);
    EXPECT_THAT(ways.error().message, HasSubstr(word));
  }
}

TEST(Flags, OnesThatAssaySaysItselfAreRefused) {
  EXPECT_TRUE(check_flags({"--seed=1", "--kernels=a,b", "--C=void"}));
  for (const char* flag : {"--m=1", "--output=x", "--problem-size::k=3", "--batch-count=2", "seed",
                           "-x", "--", "--mode"})
    EXPECT_EQ(check_flags({flag}).has_value(), std::string_view(flag) == "--mode") << flag;
  EXPECT_THAT(unknown_flags({"--seed=1", "--cta_m=128"}), IsEmpty());
  EXPECT_THAT(unknown_flags({"--sleep_duration=0"}),
              ::testing::ElementsAre(HasSubstr("did you mean 'sleep-duration'")));
}

}  // namespace
}  // namespace assay::profiler
