#include "assay/op/gemm/element_wise.h"

#include <cstring>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "assay/base/json.h"
#include "testing/naive_gemm.h"

namespace assay::gemm {
namespace {

using testing::run;

Problem make(Shape shape) {
  auto made = problem(shape);
  EXPECT_TRUE(made) << (made ? "" : made.error().message);
  return *made;
}

// Out as a plain product leaves it, and then the kernel behind it.
std::vector<std::byte> unfused(const Problem& problem, const Instance& instance) {
  const auto behind = ElementWise::of(problem);
  EXPECT_TRUE(behind) << behind.error().message;
  const auto view = gemm::view(problem);
  // Sums of the product in float64, rounded once.
  std::vector<std::byte> out(static_cast<size_t>(problem.find_operand("out")->span_bytes),
                             std::byte{0x5a});
  std::vector<std::byte> sums(behind->sums_bytes());
  std::vector<std::vector<std::byte>> inputs;
  std::vector<void*> data;
  for (size_t i = 0; i < problem.operands().size(); ++i) {
    const auto input = instance.input(i);
    inputs.emplace_back(input.begin(), input.end());
  }
  for (size_t i = 0; i < inputs.size(); ++i)
    data.push_back(problem.operands()[i].role == "out" ? out.data() : inputs[i].data());
  const auto product = without_epilogue(problem);
  EXPECT_TRUE(product) << product.error().message;
  for (int64_t l = 0; l < view->l; ++l) {
    for (int64_t i = 0; i < view->m; ++i) {
      for (int64_t j = 0; j < view->n; ++j) {
        double sum = 0;
        for (int64_t p = 0; p < view->k; ++p)
          sum += testing::get(problem, "a", inputs[0], l, i, p) *
                 testing::get(problem, "b", inputs[1], l, p, j);
        testing::put(*product, "out", behind->has_sums_apart() ? sums : out, l, i, j, sum);
      }
    }
  }
  behind->run(data.data(), sums.data());
  return out;
}

constexpr const char* kChains[] = {"bias+relu",
                                   "gelu+residual",
                                   "row_bias+gelu_tanh",
                                   "scale+column_scale+row_scale+silu",
                                   "clamp:-1:0.5",
                                   "swiglu",
                                   "bias+geglu_interleaved+residual",
                                   "column_scale+geglu_tanh+row_bias"};

TEST(ElementWiseTest, IsRightBehindAProduct) {
  for (const char* chain : kChains) {
    for (const DType dtype : {DType::f32, DType::bf16, DType::f16}) {
      for (const char* layout : {"tt", "tnn"}) {
        const Problem problem = make({.m = 7,
                                      .n = 534,  // More than a piece of a line.
                                      .k = 5,
                                      .batch = 2,
                                      .dtype = dtype,
                                      .layout = layout,
                                      .epilogue = chain});
        for (const InputKind kind : operation().useful_kinds(problem)) {
          const auto instance = operation().make_instance(problem, kind, 3);
          ASSERT_TRUE(instance);
          const Check check = (*instance)->check(unfused(problem, **instance));
          EXPECT_TRUE(check.right)
              << problem.signature() << " " << to_string(kind) << ": " << check.first_wrong;
          EXPECT_EQ(check.compared, check.elements);
        }
      }
    }
  }
}

TEST(ElementWiseTest, TheProductAloneKeepsEverythingElse) {
  const Problem problem = make({.m = 4,
                                .n = 8,
                                .k = 16,
                                .layout = "ttn",
                                .constant = {"b", "bias"},
                                .alpha = 2,
                                .epilogue = "bias+relu",
                                .epilogue_dtypes = {{"bias", DType::bf16}},
                                .ldout = 5});
  const auto product = without_epilogue(problem);
  ASSERT_TRUE(product) << product.error().message;
  EXPECT_EQ(product->operands().size(), 3U);
  EXPECT_EQ(*product->find_operand("out"), *problem.find_operand("out"));
  EXPECT_EQ(product->find_operand("b")->lifetime, Lifetime::constant);
  EXPECT_EQ(view(*product)->alpha, 2);
  // Sums of a gate are dense, and twice as wide.
  const auto gated = without_epilogue(
      make({.m = 4, .n = 8, .k = 16, .layout = "ttn", .epilogue = "swiglu+residual", .ldout = 5}));
  ASSERT_TRUE(gated) << gated.error().message;
  EXPECT_THAT(gated->find_operand("out")->sizes, ::testing::ElementsAre(1, 4, 8));
  EXPECT_THAT(gated->find_operand("out")->strides, ::testing::ElementsAre(32, 8, 1));
}

TEST(ElementWiseTest, IsMadeForThreeTypes) {
  EXPECT_FALSE(ElementWise::of(make({.m = 2, .n = 2, .k = 2, .dtype = DType::f64})));
  EXPECT_TRUE(ElementWise::of(make({.m = 2, .n = 2, .k = 2, .dtype = DType::f32})));
}

}  // namespace
}  // namespace assay::gemm
