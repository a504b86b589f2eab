#include "assay/op/gemm/plain_order.h"

#include <cmath>

namespace assay::gemm {
namespace {
constexpr double kKappaSquare = 0.18;  // Of one rounding, in the mean: see plain_order.h.
}  // namespace

PlainOrder plain_order(const View& view, const Inputs& inputs) {
  PlainOrder plain;
  if (inputs.lines.mean_product <= 0 || !info(view.out).floating) return plain;
  const auto k = static_cast<double>(view.k);
  const double u = epsilon(view.accumulate) / 2;
  // The reference is no better than what it checks.
  const double reference = view.accumulate == DType::f64 ? 4 : 1;
  const double each = kKappaSquare * u * u * reference;
  plain.split = inputs.lines.wide.empty() ? 0x1p-1000 : kWideShare * inputs.lines.mean_product;
  plain.ordinary = each * 16 / 9 / k * (k / 2 + 2);
  // Of an element of a wide line, R^2 = 1.3 P^2 / (elements that count), in the mean of uniform b.
  const auto count = static_cast<double>(inputs.lines.counting);
  plain.wide = each * 1.33 / count * ((inputs.lines.quiet ? count : k) / 2 + 2);
  if (info(view.out).significand_bits < info(view.accumulate).significand_bits) {
    const double last = epsilon(view.out) / 2;
    plain.rounding += kKappaSquare * last * last;
    plain.last = kKappaSquare * last * last;
  }
  if (view.has_c || view.alpha != 1) plain.rounding += 2 * each;
  return plain;
}

MeanSquare SquareSums::mean() const {
  if (!(plain > 0) || !std::isfinite(errors)) return {};
  return {static_cast<int64_t>(elements), elements * (errors / plain)};
}

}  // namespace assay::gemm
