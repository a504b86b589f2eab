#pragma once

// Two ways of doing the same thing, in turns: a ratio that a busy machine blurs but does not bend.
// For figures in READMEs; no test may depend on one.

#include <functional>

namespace assay::testing {

struct Interleaved {
  double ratio = 0;                    // Median of second / first, CPU time of this thread.
  double low = 0, high = 0;            // 95 % interval of that median, from order statistics.
  double first_us = 0, second_us = 0;  // Medians.
  int pairs = 0;
};

// Pairs in alternating order until `seconds` have passed, at least 11.
Interleaved interleave(const std::function<void()>& first, const std::function<void()>& second,
                       double seconds);

}  // namespace assay::testing
