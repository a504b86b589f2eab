#include "assay/op/rmsnorm/telling_problems.h"

#include <algorithm>
#include <string>

#include <fmt/format.h>

namespace assay::rmsnorm {
namespace {

struct TellingTypes {
  DType x, w, out;
};
constexpr TellingTypes kTellingTypes[] = {
    {DType::f32, DType::f32, DType::f32},    {DType::f64, DType::f64, DType::f64},
    {DType::bf16, DType::bf16, DType::bf16}, {DType::f16, DType::f16, DType::f16},
    {DType::bf16, DType::f32, DType::bf16},  {DType::f32, DType::bf16, DType::bf16}};

struct Telling {
  const char* name;
  Shape shape;
  bool adds = false;  // A residual of x's type.
};

}  // namespace

Result<std::vector<Problem>> telling_problems() {
  const Telling all[] = {
      {"norm_odd", {.m = 37, .n = 53}},
      {"norm_row", {.m = 1, .n = 1031, .constant = {"w"}}},
      {"norm_long", {.m = 3, .n = 8193, .constant = {"w"}}},
      {"norm_column", {.m = 70, .n = 1}},
      {"norm_element", {.m = 1, .n = 1}},
      {"norm_rows", {.m = 64, .n = 256, .constant = {"w"}}},
      {"norm_gaps", {.m = 9, .n = 30, .ldx = 41, .ldout = 37}},
      {"norm_epsilon", {.m = 12, .n = 64, .epsilon = 0.01}},
      {"norm_added", {.m = 23, .n = 77, .constant = {"w"}}, true},
      {"norm_added_row", {.m = 1, .n = 2050, .constant = {"w"}}, true},
      {"norm_added_gaps", {.m = 9, .n = 30, .ldx = 41, .ldout = 37, .ldresidual = 33}, true},
  };
  std::vector<Problem> problems;
  for (const Telling& one : all) {
    for (const TellingTypes& types : kTellingTypes) {
      Shape shape = one.shape;
      shape.name = fmt::format("{}_{}_{}_{}", one.name, to_string(types.x), to_string(types.w),
                               to_string(types.out));
      shape.x = types.x, shape.w = types.w, shape.out = types.out;
      if (one.adds) shape.residual = types.x;
      ASSAY_TRY(Problem made, problem(shape));
      problems.push_back(std::move(made));
    }
  }
  return problems;
}

Result<Problem> fewer_outputs(const Problem& problem, double products) {
  constexpr double kCost = 64;  // Multiplications that an element is worth: squares, roots, bounds.
  ASSAY_TRY(const View v, view(problem));
  const double rows = products / kCost / static_cast<double>(v.n);
  if (static_cast<double>(v.m) <= rows) return problem;
  Shape shape;
  shape.name = problem.name();
  shape.m = std::max(std::min(v.m, int64_t{2}), static_cast<int64_t>(rows));
  shape.n = v.n;
  shape.x = v.x, shape.w = v.w, shape.out = v.out, shape.accumulate = v.accumulate;
  shape.epsilon = v.epsilon;
  if (v.adds) shape.residual = v.residual;
  if (problem.has_constant()) shape.constant = {"w"};
  return rmsnorm::problem(shape);
}

}  // namespace assay::rmsnorm
