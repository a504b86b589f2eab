#include "assay/op/gemm/budget.h"

#include <algorithm>
#include <cmath>

namespace assay::gemm {
namespace {

// Smallest normal number. All our formats but f16 share an exponent range with f32 or f64.
double min_normal(DType dtype) {
  switch (dtype) {
    case DType::f64:
      return 0x1p-1022;
    case DType::f16:
      return 0x1p-14;
    default:
      return 0x1p-126;
  }
}

}  // namespace

double allowed_last(const Budget& budget, const View& view, double exact, double error) {
  const double size = std::fabs(exact), least = min_normal(view.out);
  return error + budget.rounding * (size + error) + epsilon(view.out) / 2 * least +
         (size < least ? least : 0);
}

Budget budget_of(const View& view, int more) {
  Budget budget;
  if (!info(view.out).floating) {  // Integer sums are exact: half a step tells right from wrong.
    budget.underflow = 0.5;
    return budget;
  }
  const double u = epsilon(view.accumulate) / 2;
  const double roundings =
      static_cast<double>(view.k) + (view.alpha != 1 ? 2 : 0) + (view.has_c ? 3 : 0) + more;
  const double always = roundings * u < 1 ? roundings * u / (1 - roundings * u) : HUGE_VAL;
  const double likely =
      std::expm1(kLambda * std::sqrt(roundings) * u + roundings * u * u / (1 - u));
  budget.growth = std::min(always, likely) * (view.accumulate == DType::f64 ? 2 : 1);
  if (info(view.out).significand_bits < info(view.accumulate).significand_bits)
    budget.rounding = epsilon(view.out) / 2;
  // A subnormal step is epsilon times the smallest normal number; a rounding errs by half of one.
  budget.underflow =
      roundings * u * min_normal(view.accumulate) + epsilon(view.out) / 2 * min_normal(view.out);
  budget.min_normal = min_normal(view.out);
  return budget;
}

}  // namespace assay::gemm
