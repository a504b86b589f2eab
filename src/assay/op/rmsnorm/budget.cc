#include "assay/op/rmsnorm/budget.h"

#include <algorithm>
#include <cmath>

namespace assay::rmsnorm {
namespace {

constexpr double kMeanRoundings = 4, kProductRoundings = 6;
constexpr double kSquareOfSum = 2, kSum = 1;  // On top of these, where a residual is added.

double min_normal(DType dtype) {
  switch (dtype) {
    case DType::f64:
      return 0x1p-1022;
    case DType::f16:
      return 0x1p-14;
    default:
      return 0x1p-126;  // bf16 has the exponents of f32.
  }
}

double gamma(double roundings, double u) {
  return roundings * u < 1 ? roundings * u / (1 - roundings * u) : HUGE_VAL;
}

}  // namespace

double Budget::growth(double v) const {
  constexpr double kMost = 0.5;  // Beyond this a sum says nothing of its terms.
  const double theta = std::min(sums + flushed / v, kMost);
  return factor * ((1 + products) / std::sqrt(1 - theta) - 1);
}

double Budget::allowed(double growth, double e, double w, double root) const {
  const double size = std::fabs(e);
  const double computed = growth * size + flushed * (std::fabs(w) + root);
  const double lost = size < min_normal ? min_normal : 0;
  return computed + rounding() * (size + computed) + lost;
}

double Budget::allowed_sum(double sum) const {
  const double size = std::fabs(sum);
  const double computed = factor * unit * size;
  return computed + written * (size + computed) + (size < written_min ? written_min : 0);
}

Budget budget_of(const View& view) {
  const double u = epsilon(view.accumulate) / 2;
  const double roundings =
      static_cast<double>(view.n) + kMeanRoundings + (view.adds ? kSquareOfSum : 0);
  const double likely =
      std::expm1(kLambda * std::sqrt(roundings) * u + roundings * u * u / (1 - u));
  Budget budget;
  budget.sums = std::min(gamma(roundings, u), likely);
  budget.products = gamma(kProductRoundings + (view.adds ? kSum : 0), u);
  budget.factor = view.accumulate == DType::f64 ? 2 : 1;
  if (info(view.out).significand_bits < info(view.accumulate).significand_bits)
    budget.last = epsilon(view.out) / 2;
  budget.x_alike = epsilon(view.x);
  budget.alike = epsilon(view.x) * epsilon(view.w);
  budget.min_normal = min_normal(view.out);
  budget.flushed = min_normal(view.accumulate);
  budget.unit = u;
  if (!view.adds) return budget;
  if (info(view.residual).significand_bits < info(view.accumulate).significand_bits)
    budget.written = epsilon(view.residual) / 2;
  budget.written_min = min_normal(view.residual);
  return budget;
}

double plain_square(const View& view) {
  constexpr double kKappaSquared = 0.18, kOthers = 16;
  const double u = epsilon(view.accumulate) / 2;
  return kKappaSquared * u * u * (static_cast<double>(view.n) / 8 + kOthers);
}

}  // namespace assay::rmsnorm
