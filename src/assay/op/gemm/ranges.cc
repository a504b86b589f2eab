#include "assay/op/gemm/ranges.h"

#include <algorithm>
#include <cmath>

namespace assay::gemm {

double scale_to(double bound, double limit) {
  double scale = 1;
  while (bound * scale > limit) scale /= 2;
  return scale;
}

Ranges::Ranges(const View& view)
    : integers(!info(view.out).floating),
      factor(std::max(1.0, std::fabs(view.alpha))),
      k_(static_cast<double>(view.k)),
      beta_(std::fabs(view.beta)) {
  const double most = std::min(info(view.out).max_finite, info(view.accumulate).max_finite);
  // A quarter for c and for rounding up.
  limit = integers ? most * 0.75 : most / 4;
}

double Ranges::scale_a() const {
  // Random signs keep sums of k products near sqrt(k); 16 deviations are never seen.
  return scale_to(factor * std::min(k_, 16 * std::sqrt(k_)), limit);
}

double Ranges::scale_c() const { return scale_to(beta_, limit); }

int64_t Ranges::most_integer() const {
  const double each = limit / factor / k_;
  int64_t most = 127;
  // Where there is room for 127 there is for -128, on both sides.
  const auto largest = [&] { return most == 127 ? most + 1 : most; };
  while (most > 1 && static_cast<double>(largest() * largest()) > each) --most;
  return most;
}

}  // namespace assay::gemm
