#include "assay/stats/interval.h"

#include <algorithm>
#include <cmath>

#include "assay/stats/robust.h"
#include "assay/stats/student.h"

namespace assay::stats {

std::optional<Interval> student_interval(std::span<const double> samples, double confidence,
                                         int min_samples) {
  const auto count = static_cast<int>(samples.size());
  if (count < std::max(2, min_samples) || !(confidence > 0) || !(confidence < 1)) {
    return std::nullopt;
  }
  Interval interval;
  interval.samples = count;
  interval.centre = mean(samples);
  interval.standard_error = standard_deviation(samples) / std::sqrt(static_cast<double>(count));
  if (!std::isfinite(interval.standard_error)) return std::nullopt;
  const double reach = student_quantile(0.5 + confidence / 2, count - 1) * interval.standard_error;
  interval.low = interval.centre - reach;
  interval.high = interval.centre + reach;
  return interval;
}

}  // namespace assay::stats
