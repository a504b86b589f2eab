#pragma once

// A logarithmic axis in per cent of its length, so that a drawing scales without a script.

#include <vector>

namespace assay::report {

class LogAxis {
 public:
  // Both above 0; low < high.
  LogAxis(double low, double high) : low_(low), high_(high) {}

  double low() const { return low_; }
  double high() const { return high_; }
  // 0 at low, 100 at high; beyond them at the nearer end.
  double percent_of(double value) const;
  bool holds(double value) const { return value >= low_ && value <= high_; }

  // Those of `values` that lie on the axis, the first ones first, each at least `apart` per cent
  // from all before it.
  std::vector<double> ticks(const std::vector<double>& values, double apart) const;

 private:
  double low_, high_;
};

// 1, 10, 100 ... and then 2 and 5 times these, over all that a double can hold of interest.
std::vector<double> decades();

}  // namespace assay::report
