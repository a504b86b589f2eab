#include "testing/small_problems.h"

#include <gtest/gtest.h>

namespace assay::gemm::testing {
namespace {

Problem make(const Shape& shape) {
  auto made = problem(shape);
  EXPECT_TRUE(made) << (made ? "" : made.error().message);
  return *made;
}

}  // namespace

std::vector<Problem> small_problems() {
  std::vector<Problem> all;
  all.push_back(make({.m = 5, .n = 7, .k = 37}));
  all.push_back(make({.m = 1, .n = 40, .k = 300, .layout = "nn"}));
  all.push_back(make({.m = 33, .n = 1, .k = 64, .layout = "tt"}));
  all.push_back(make({.m = 1, .n = 1, .k = 1}));
  all.push_back(make(
      {.m = 9, .n = 17, .k = 128, .batch = 3, .layout = "ntn", .lda = 11, .ldb = 20, .ldout = 13}));
  all.push_back(make({.m = 3, .n = 4, .k = 1, .alpha = 0.1, .beta = 0.3}));
  all.push_back(make({.m = 3, .n = 4, .k = 2, .dtype = DType::f16, .alpha = 3, .beta = 0.3}));
  {
    Arguments any;  // Nothing contiguous, every operand in another order.
    any.a = {nullptr, DType::f16, 3, {2, 5, 30}, {2, 120, 4}};
    any.b = {nullptr, DType::f16, 3, {2, 30, 7}, {630, 3, 90}};
    any.out = {nullptr, DType::f32, 3, {2, 5, 7}, {1, 14, 2}};
    any.c = any.out;
    any.beta = 1;
    auto made = problem(any);
    EXPECT_TRUE(made) << (made ? "" : made.error().message);
    all.push_back(*made);
  }
  all.push_back(make({.m = 12, .n = 20, .k = 100, .dtype = DType::f64, .layout = "tt"}));
  all.push_back(make({.m = 12, .n = 20, .k = 200, .dtype = DType::f16}));
  all.push_back(make({.m = 12, .n = 20, .k = 90, .dtype = DType::f16, .accumulate = DType::f16}));
  all.push_back(make({.m = 12, .n = 20, .k = 200, .batch = 2, .dtype = DType::bf16}));
  all.push_back(make({.m = 12, .n = 20, .k = 200, .dtype = DType::bf16, .out = DType::f32}));
  all.push_back(
      make({.m = 8, .n = 8, .k = 50, .a = DType::f16, .b = DType::bf16, .out = DType::f16}));
  all.push_back(make({.m = 12, .n = 20, .k = 200, .dtype = DType::s8, .constant = {"b"}}));
  all.push_back(make({.m = 12, .n = 20, .k = 200, .alpha = 0.5, .beta = -2}));
  all.push_back(make({.m = 12, .n = 20, .k = 200, .alpha = 0.1, .beta = 0.3}));
  all.push_back(make(
      {.m = 6, .n = 20, .k = 20, .dtype = DType::bf16, .constant = {"a"}, .alpha = 2, .beta = 1}));
  all.push_back(make({.m = 6, .n = 20, .k = 20, .dtype = DType::s8, .alpha = -3, .beta = 2}));
  return all;
}

}  // namespace assay::gemm::testing
