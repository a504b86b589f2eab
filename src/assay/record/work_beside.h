#pragma once

// What the thread that launches worked beside its launches, while inputs were known: that may be
// work of the launches, done ahead of their clock or behind it. A little more than others is
// nobody's fault: a process that runs seldom finds its caches colder, by up to 30 us a burst on
// some machines (measured). So it convicts nobody, but counts as a kernel's own time: a verdict
// that rests on it is not given. Pure, as doubts.h.

#include <string>
#include <string_view>

#include "assay/record/record.h"

namespace assay {

// What a burst may take beside its launches that takes others so long: 5 % more, 2 % of the burst,
// and 6 us for each stretch that has a start and a stop of its own. Nanoseconds.
inline double work_beside_allowed_ns(double others_ns, double burst_ns, double stretches) {
  return 1.05 * others_ns + 0.02 * burst_ns + 6e3 * stretches;
}

// A sentence, if a user's kernel takes more than that in three processes, or in all if there are
// fewer, by the medians of clean bursts; else empty. Others are the kernels that no user brought:
// the most of their upper quartiles, since a core may have two speeds and keep each for some
// rounds.
std::string work_beside(const ProblemRecord& problem, const Confirmation& confirmation,
                        std::string_view id);

}  // namespace assay
