// Kernels whose errors norms bound and not elements: judged by that where they promise it.

#include <cmath>
#include <cstring>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "assay/op/gemm/gemm.h"
#include "assay/op/proof_words.h"
#include "testing/naive_gemm.h"
#include "testing/strassen.h"

namespace assay::gemm {
namespace {

using ::testing::Contains;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using testing::Naive;
using ::testing::Not;
using ::testing::StartsWith;

constexpr InputSeeds kOwn{}, kTimed{.set = 4, .launch = 5};

Problem make(const Shape& shape) {
  auto made = problem(shape);
  EXPECT_TRUE(made) << (made ? "" : made.error().message);
  return *made;
}

std::unique_ptr<Instance> instance_of(const Problem& problem, InputKind kind) {
  auto made = operation().make_instance(problem, kind, 3);
  EXPECT_TRUE(made) << to_string(kind) << ": " << (made ? "" : made.error().message);
  return made ? std::move(*made) : nullptr;
}

// As a kernel of dense row-major f32 leaves it.
std::vector<std::byte> run_strassen(const Instance& instance, int levels,
                                    const InputSeeds& seeds = kOwn) {
  const Problem& problem = instance.problem();
  const View v = *view(problem);
  std::array<std::vector<float>, 2> inputs;
  for (size_t i = 0; i < inputs.size(); ++i) {
    std::vector<std::byte> bytes(instance.input(i).begin(), instance.input(i).end());
    if (seeds.renewed()) renew(operation().renewal(problem, i, seeds), bytes);
    inputs[i].resize(bytes.size() / sizeof(float));
    std::memcpy(inputs[i].data(), bytes.data(), bytes.size());
  }
  std::vector<float> out(static_cast<size_t>(v.l * v.m * v.n));
  for (int64_t l = 0; l < v.l; ++l)
    strassen::multiply(inputs[0].data() + l * v.m * v.k, inputs[1].data() + l * v.k * v.n,
                       out.data() + l * v.m * v.n, v.m, v.n, v.k, levels);
  const auto bytes = std::as_bytes(std::span(out));
  return {bytes.begin(), bytes.end()};
}

Check check(const Instance& instance, const std::vector<std::byte>& output, ErrorBound bound,
            const InputSeeds& seeds = kOwn) {
  return instance.check(output, seeds, bound);
}

Shape shape_of(int64_t m, int64_t n, int64_t k, int64_t batch = 1) {
  return {.m = m, .n = n, .k = k, .batch = batch, .layout = "tt"};
}

const std::vector<Shape> kShapes = {
    shape_of(2, 2, 2),    shape_of(4, 4, 4),        shape_of(5, 7, 9),      shape_of(8, 8, 8),
    shape_of(16, 16, 64), shape_of(64, 64, 512, 2), shape_of(16, 16, 14336)};

TEST(NormwiseTest, ThreeLevelsOfStrassenAreRightWhereTheyPromiseIt) {
  double largest_of_few = 0, largest_of_many = 0;
  for (const Shape& shape : kShapes) {
    const Problem problem = make(shape);
    for (const InputKind kind : operation().useful_kinds(problem, ErrorBound::normwise)) {
      const auto instance = instance_of(problem, kind);
      const auto derived = *instance->derive(17);
      for (int levels = 0; levels <= 3; ++levels) {
        SCOPED_TRACE(fmt::format("{} {} levels {}", problem.signature(), to_string(kind), levels));
        for (const Instance* each : {instance.get(), derived.get()}) {
          const Check found = check(*each, run_strassen(*each, levels), ErrorBound::normwise);
          EXPECT_TRUE(found.right) << found.first_wrong;
          double& largest = shape.k < 64 ? largest_of_few : largest_of_many;
          largest = std::max(largest, found.max_error);
        }
      }
    }
    const auto instance = instance_of(problem, InputKind::uniform);
    for (int levels = 0; levels <= 3; ++levels) {
      const Check found =
          check(*instance, run_strassen(*instance, levels, kTimed), ErrorBound::normwise, kTimed);
      EXPECT_TRUE(found.right) << problem.signature() << " " << levels << found.first_wrong;
      EXPECT_THAT(found.method, EndsWith(kNormwiseMethod));
    }
  }
  // As budgets.h has it.
  EXPECT_LT(largest_of_few, 1.0 / 3);
  EXPECT_LT(largest_of_many, 1.0 / 6);
}

TEST(NormwiseTest, UndeclaredTheyAreWrongAndToldOfTheOtherBound) {
  for (const Shape& shape : kShapes) {
    const Problem problem = make(shape);
    int wrong = 0;
    for (const InputKind kind : operation().useful_kinds(problem)) {
      const auto instance = instance_of(problem, kind);
      const Check found = check(*instance, run_strassen(*instance, 2), ErrorBound::elementwise);
      EXPECT_THAT(found.method, Not(HasSubstr("normwise")));
      if (found.right) continue;
      const bool left_out = kind == InputKind::exact || kind == InputKind::non_finite;
      EXPECT_EQ(found.within_normwise, left_out ? std::nullopt : std::optional(true))
          << to_string(kind);
      wrong += left_out ? 0 : 1;
    }
    EXPECT_GT(wrong, 0) << problem.signature();
  }
}

TEST(NormwiseTest, WhatThePromiseSaysNothingOfIsLeftOutInWords) {
  const Problem problem = make(shape_of(8, 8, 16));
  for (const InputKind kind : {InputKind::exact, InputKind::non_finite}) {
    const auto instance = instance_of(problem, kind);
    const std::vector<std::byte> wrong(8 * 8 * 4);
    const Check found = check(*instance, wrong, ErrorBound::normwise);
    EXPECT_TRUE(found.right);
    EXPECT_EQ(found.compared, 0);
    EXPECT_EQ(found.elements, 64);
    EXPECT_THAT(found.method, StartsWith(kLeftOutMethod));
    EXPECT_FALSE(check(*instance, wrong, ErrorBound::elementwise).right);
  }
  const auto& words = dynamic_cast<const ProofWords&>(operation());
  EXPECT_THAT(std::vector(words.check_methods().begin(), words.check_methods().end()),
              Contains(StartsWith(kLeftOutMethod)));
}

// Whatever is wrong with an integer is seen, however small it is beside the others.
TEST(NormwiseTest, IntegersMustMatchToTheBit) {
  for (const DType out : {DType::f32, DType::bf16}) {
    Shape shape = shape_of(8, 12, 4096);
    shape.a = shape.b = DType::bf16;
    shape.out = out;
    const Problem problem = make(shape);
    const auto instance = instance_of(problem, InputKind::exact_blocks);
    std::vector<std::byte> output = testing::run(*instance);
    const Check right = check(*instance, output, ErrorBound::normwise);
    EXPECT_TRUE(right.right) << right.first_wrong;
    EXPECT_THAT(right.method, Not(HasSubstr("normwise")));
    testing::put(problem, "out", output, 0, 7, 5,
                 testing::get(problem, "out", output, 0, 7, 5) + 1);
    EXPECT_FALSE(check(*instance, output, ErrorBound::normwise).right) << to_string(out);
    // Of bf16 a column has one index in sixteen alone.
    const auto skips = testing::run(*instance, {.skipped_k = out == DType::f32 ? 1 : 16});
    EXPECT_FALSE(check(*instance, skips, ErrorBound::normwise).right) << to_string(out);
  }
  // Sums of integer types wrap around, and back: all that others are asked is asked.
  Shape shape = shape_of(8, 12, 64);
  shape.a = shape.b = DType::s8;
  shape.out = DType::s32;
  const Problem problem = make(shape);
  EXPECT_THAT(operation().useful_kinds(problem, ErrorBound::normwise),
              ::testing::ElementsAreArray(operation().useful_kinds(problem)));
  for (const InputKind kind : operation().useful_kinds(problem)) {
    const auto instance = instance_of(problem, kind);
    std::vector<std::byte> output = testing::run(*instance);
    EXPECT_TRUE(check(*instance, output, ErrorBound::normwise).right);
    testing::put(problem, "out", output, 0, 7, 5,
                 testing::get(problem, "out", output, 0, 7, 5) + 1);
    EXPECT_FALSE(check(*instance, output, ErrorBound::normwise).right) << to_string(kind);
  }
}

// Room for sums of blocks in any order: sixteen times what the plain sums may come to fits f32.
TEST(NormwiseTest, IntegersLeaveRoomForSumsOfBlocks) {
  for (const int64_t k : {2, 64, 14336}) {
    const Problem problem = make(shape_of(8, 12, k));
    const auto instance = instance_of(problem, InputKind::exact_blocks);
    std::array<double, 2> largest = {};
    for (int64_t p = 0; p < k; ++p) {
      for (int64_t i = 0; i < 8; ++i)
        largest[0] = std::max(largest[0],
                              std::fabs(testing::get(problem, "a", instance->input(0), 0, i, p)));
      for (int64_t j = 0; j < 12; ++j)
        largest[1] = std::max(largest[1],
                              std::fabs(testing::get(problem, "b", instance->input(1), 0, p, j)));
    }
    EXPECT_LE(16 * static_cast<double>(k) * largest[0] * largest[1], 0x1p24) << k;
    EXPECT_GE(largest[0], 2) << k;
  }
}

// The same of every element of a batch, by the operands of that batch.
TEST(NormwiseTest, ABatchIsJudgedByItsOwnLargestNumbers) {
  Shape shape = shape_of(4, 4, 64, 2);
  const Problem problem = make(shape);
  const auto instance = instance_of(problem, InputKind::needle);
  // Zeros but for one number: in one batch alone something may be off.
  const std::vector<std::byte> right = testing::run(*instance);
  int allowed = 0;
  for (int64_t l = 0; l < 2; ++l) {
    std::vector<std::byte> off = right;
    testing::put(problem, "out", off, l, 3, 3, testing::get(problem, "out", off, l, 3, 3) + 1000);
    allowed += check(*instance, off, ErrorBound::normwise).right ? 1 : 0;
  }
  EXPECT_EQ(allowed, 1);
}

// Where not every element of an output is compared.
TEST(NormwiseTest, LargeOutputsAreJudgedByTheBoundEverywhere) {
  const Problem problem = make(shape_of(1200, 1000, 1000));
  const auto instance = instance_of(problem, InputKind::uniform);
  for (const InputSeeds& seeds : {kOwn, kTimed}) {
    const auto output = run_strassen(*instance, 2, seeds);
    const Check found = check(*instance, output, ErrorBound::normwise, seeds);
    EXPECT_TRUE(found.right) << found.first_wrong;
    EXPECT_LT(found.compared, found.elements);
    EXPECT_THAT(found.method, EndsWith(kNormwiseMethod));
    std::vector<std::byte> half = output;
    std::fill(half.begin() + static_cast<std::ptrdiff_t>(half.size() / 2), half.end(),
              std::byte{0});
    EXPECT_FALSE(check(*instance, half, ErrorBound::normwise, seeds).right);
    std::vector<std::byte> huge = output;
    for (int64_t i = 0; i < 1200; ++i) testing::put(problem, "out", huge, 0, i, i % 1000, 1e6);
    EXPECT_FALSE(check(*instance, huge, ErrorBound::normwise, seeds).right);
  }
}

}  // namespace
}  // namespace assay::gemm
