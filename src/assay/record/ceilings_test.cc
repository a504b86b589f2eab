#include "assay/record/ceilings.h"

#include <vector>

#include <gtest/gtest.h>

namespace assay {
namespace {

std::string chosen(const std::vector<Ceiling>& ceilings, std::string_view dtype) {
  const Ceiling* ceiling = arithmetic_ceiling(ceilings, dtype);
  return ceiling == nullptr ? "none" : ceiling->name;
}

Ceiling of(const char* name, double value) { return {name, value, "flop/s", 1, "", ""}; }

TEST(CeilingsTest, NarrowInputsMayBeWidened) {
  // As on a processor whose bf16 dot products are half as fast as its f32 multiply-adds.
  const std::vector<Ceiling> slow = {of("flops_f64", 40e9), of("flops_f32", 80e9),
                                     of("flops_bf16", 42e9)};
  EXPECT_EQ(chosen(slow, "bf16"), "flops_f32");
  EXPECT_EQ(chosen(slow, "f16"), "flops_f32");
  EXPECT_EQ(chosen(slow, "f32"), "flops_f32");
  EXPECT_EQ(chosen(slow, "f64"), "flops_f64") << "an f64 sum is not made of f32 ones";
  const std::vector<Ceiling> fast = {of("flops_f32", 80e9), of("flops_bf16", 160e9)};
  EXPECT_EQ(chosen(fast, "bf16"), "flops_bf16");
}

TEST(CeilingsTest, WhatWasNotMeasuredIsNoCeiling) {
  EXPECT_EQ(chosen({}, "f32"), "none");
  EXPECT_EQ(chosen({of("flops_bf16", 0), of("flops_f32", 80e9)}, "bf16"), "flops_f32");
  EXPECT_EQ(chosen({of("flops_bf16", 9e9)}, "bf16"), "flops_bf16");
}

TEST(CeilingsTest, TheTypeIsThatOfTheFirstOperandWhateverItIsCalled) {
  ProblemRecord problem;
  EXPECT_EQ(first_input_type(problem), "");
  problem.key = "p";
  EXPECT_EQ(first_input_type(problem), "");
  problem.key = "p a=bf16 b=f32 out=f32 accumulate=f32 layout=tn constant=b";
  EXPECT_EQ(first_input_type(problem), "bf16");
  problem.key = "p x=f64";
  EXPECT_EQ(first_input_type(problem), "f64");
}

}  // namespace
}  // namespace assay
