#include "assay/op/gemm/lines.h"

#include <algorithm>
#include <cmath>

#include "assay/op/gemm/ranges.h"
#include "assay/op/renewal.h"

namespace assay::gemm {

bool looks_along_columns(const Problem& problem) {
  return varies(*problem.find_operand("b")) && !varies(*problem.find_operand("a"));
}

LinePlan plan_lines(const Problem& problem, const View& view) {
  LinePlan plan;
  plan.of_b = looks_along_columns(problem);
  plan.lines = plan.of_b ? view.n : view.m;
  plan.scale = Ranges(view).scale_a();
  plan.mean_product = plan.scale * static_cast<double>(view.k) / 4;
  plan.counting = std::clamp(view.k / 8, int64_t{1}, int64_t{8});
  // Small ones are 2^-6 of a rounding of 1 and less, and of normal numbers.
  const DType dtype = plan.of_b ? view.b : view.a;
  const int negligible = 1 - info(view.accumulate).significand_bits - 6;
  const int least = dtype == DType::f16 ? -13 - std::ilogb(plan.scale) : -100;
  plan.high = std::max(negligible, std::min(least + 4, 0));
  plan.low = std::min(plan.high, std::max(std::min(plan.high - 14, -41), least));
  plan.quiet = plan.high <= negligible;
  return plan;
}

}  // namespace assay::gemm
