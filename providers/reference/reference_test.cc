#include <array>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "assay/op/gemm/gemm.h"
#include "providers/reference/info.h"
#include "testing/bound_kernel.h"
#include "testing/provider_conformance.h"

ASSAY_PROVIDER_CONFORMANCE(reference, {.make = assay::reference::make_provider});

namespace assay::reference {
namespace {

// Rows, columns and batches all a few elements apart: nothing else in the house computes this.
TEST(Reference, TakesAnyStrides) {
  std::array<float, 512> memory{};
  TensorView a{
      .data = memory.data(), .dtype = DType::f32, .rank = 2, .size = {3, 4}, .stride = {17, 3}};
  TensorView b{
      .data = memory.data(), .dtype = DType::f32, .rank = 2, .size = {4, 5}, .stride = {2, 11}};
  TensorView out{
      .data = memory.data(), .dtype = DType::f32, .rank = 2, .size = {3, 5}, .stride = {23, 4}};
  const auto problem = gemm::problem({.a = a, .b = b, .out = out});
  ASSERT_TRUE(problem) << problem.error().message;
  const auto families = make_provider()->families({});
  ASSERT_TRUE(families);
  const auto kernel = testing::find_kernel(*families, *problem, "gemm/float64");
  ASSERT_TRUE(kernel) << kernel.error().message;
  auto bound = testing::BoundKernel::make(*kernel, *problem);
  ASSERT_TRUE(bound) << bound.error().message;
  ASSERT_TRUE(bound->launch());
  const Check check = bound->check();
  EXPECT_TRUE(check.right) << check.first_wrong;
}

TEST(Reference, IsNeverStock) { EXPECT_EQ(make_provider()->info().role, ProviderRole::reference); }

}  // namespace
}  // namespace assay::reference
