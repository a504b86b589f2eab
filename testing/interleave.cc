#include "testing/interleave.h"

#include <algorithm>
#include <cmath>
#include <ctime>
#include <vector>

namespace assay::testing {
namespace {

double cpu_us() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e6 + static_cast<double>(now.tv_nsec) * 1e-3;
}

double time_us(const std::function<void()>& work, int repeats) {
  const double start = cpu_us();
  for (int i = 0; i < repeats; ++i) work();
  return (cpu_us() - start) / repeats;
}

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2),
                   values.end());
  return values[values.size() / 2];
}

}  // namespace

Interleaved interleave(const std::function<void()>& first, const std::function<void()>& second,
                       double seconds) {
  first();
  second();
  // A burst of 200 us: long against the clock's own cost.
  const int repeats = std::max(1, static_cast<int>(200 / std::max(time_us(first, 1), 0.1)));
  std::vector<double> firsts, seconds_taken, ratios;
  const double end = cpu_us() + seconds * 1e6;
  for (int pair = 0; pair < 11 || cpu_us() < end; ++pair) {
    double a = 0, b = 0;
    if (pair % 2 == 0) {
      a = time_us(first, repeats);
      b = time_us(second, repeats);
    } else {
      b = time_us(second, repeats);
      a = time_us(first, repeats);
    }
    firsts.push_back(a);
    seconds_taken.push_back(b);
    ratios.push_back(b / a);
  }
  std::sort(ratios.begin(), ratios.end());
  const auto count = static_cast<double>(ratios.size());
  const auto reach = static_cast<size_t>(std::ceil(0.98 * std::sqrt(count)));
  const size_t middle = ratios.size() / 2;
  return {.ratio = ratios[middle],
          .low = ratios[middle - std::min(middle, reach)],
          .high = ratios[std::min(middle + reach, ratios.size() - 1)],
          .first_us = median(firsts),
          .second_us = median(seconds_taken),
          .pairs = static_cast<int>(ratios.size())};
}

}  // namespace assay::testing
