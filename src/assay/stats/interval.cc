#include "assay/stats/interval.h"

#include <algorithm>
#include <cmath>

#include "assay/stats/robust.h"
#include "assay/stats/student.h"

namespace assay::stats {

std::optional<Interval> student_interval(std::span<const double> samples, double confidence,
                                         int min_samples) {
  return trimmed_interval(samples, 0, confidence, min_samples);
}

std::optional<Interval> trimmed_interval(std::span<const double> samples, double fraction,
                                         double confidence, int min_samples) {
  const auto count = static_cast<int>(samples.size());
  if (count < std::max(2, min_samples) || !(confidence > 0) || !(confidence < 1) ||
      !(fraction >= 0) || !(fraction < 0.5)) {
    return std::nullopt;
  }
  Interval interval;
  interval.samples = count;
  if (fraction > 0) {
    interval.centre = trimmed_mean(samples, fraction);
    interval.standard_error = trimmed_standard_error(samples, fraction);
  } else {
    interval.centre = mean(samples);
    interval.standard_error = standard_deviation(samples) / std::sqrt(static_cast<double>(count));
  }
  interval.degrees = count - 2 * static_cast<int>(std::floor(fraction * count)) - 1;
  if (!std::isfinite(interval.standard_error) || interval.degrees < 1) return std::nullopt;
  const double reach =
      student_quantile(0.5 + confidence / 2, interval.degrees) * interval.standard_error;
  interval.low = interval.centre - reach;
  interval.high = interval.centre + reach;
  return interval;
}

}  // namespace assay::stats
