#include "assay/report/log_axis.h"

#include <algorithm>
#include <cmath>

namespace assay::report {

double LogAxis::percent_of(double value) const {
  if (!(value > low_)) return 0;
  if (value >= high_) return 100;
  return 100 * std::log(value / low_) / std::log(high_ / low_);
}

std::vector<double> LogAxis::ticks(const std::vector<double>& values, double apart) const {
  std::vector<double> chosen;
  for (const double value : values) {
    if (!holds(value)) continue;
    const bool clear = std::all_of(chosen.begin(), chosen.end(), [&](double other) {
      return std::abs(percent_of(value) - percent_of(other)) >= apart;
    });
    if (clear) chosen.push_back(value);
  }
  return chosen;
}

std::vector<double> decades() {
  constexpr int kFirst = -6, kLast = 24;
  std::vector<double> values;
  for (const double factor : {1.0, 2.0, 5.0})
    for (int power = kFirst; power <= kLast; ++power)
      values.push_back(factor * std::pow(10, power));
  return values;
}

}  // namespace assay::report
