#pragma once

// What the thread that launches worked beside its launches, while inputs were known: that may be
// work of the launches, done ahead of their clock or behind it. It convicts nobody: a process that
// runs seldom finds its caches colder, which takes 15 to 60 us a burst on some machines (measured).
// But a verdict that rests on it is not given. Pure, as doubts.h.

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include "assay/record/record.h"

namespace assay {

// What a burst may take beside its launches that takes others so long: 5 % more, 2 % of the burst,
// and 6 us for each stretch that has a start and a stop of its own. Nanoseconds.
inline double work_beside_allowed_ns(double others_ns, double burst_ns, double stretches) {
  return 1.05 * others_ns + 0.02 * burst_ns + 6e3 * stretches;
}

// A user's kernel that took more than that in three processes, or in all if there are fewer; none
// else. Its own lower quartile over clean bursts is held against the median of the kernels that no
// user brought: what a busy machine adds to some bursts is no work of all of them. Who works beside
// some bursts alone is fast in those, so that the fastest half and quarter are asked, too.
struct WorkBeside {
  double own_ns = 0, others_ns = 0;  // Of a burst, in the process that is furthest beyond.
  std::size_t processes = 0;         // That are beyond.
  // By process: of each burst, above others'. Empty in one within.
  std::vector<std::vector<double>> excess_ns;
};
std::optional<WorkBeside> work_beside(const ProblemRecord& problem,
                                      const Confirmation& confirmation, std::string_view id);

// The same samples, with twice that excess in those bursts of `id`. What is left out of a clock
// costs its own time within it; twice is for what the excess fails to see of it.
Confirmation with_work_beside(const Confirmation& confirmation, std::string_view id,
                              const WorkBeside& beside);

}  // namespace assay
