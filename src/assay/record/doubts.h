#pragma once

// What the samples of a confirmation hold against a claim, beside their means. Pure: found when the
// run ends, and again by compare.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "assay/record/record.h"

namespace assay {

// How far the two clocks of a burst (its process's, and the one outside) may lie apart: 2 %, and
// 15 us for each stretch that has a start and a stop of its own. The messages by which the outer
// one is told cost the system up to ten microseconds each (measured), before the other clock starts
// and after it has stopped. Nanoseconds.
inline double clocks_apart_ns(double burst_ns, double stretches) {
  return 0.02 * burst_ns + 15e3 * stretches;
}

// Of one burst: warm launches are a stretch each, with a start and a stop of its own.
double stretches_of(const ProblemRecord& problem, const KernelSamples& samples);

// A finding on a kernel, or where the id is empty on all that was timed.
struct Doubt {
  std::string id;
  Finding finding;
};

// `clock`: its process and our own clock do not agree. `own_rounds_spoiled`: bursts of a user's
// kernel are disturbed more often than those of another finalist, beyond chance, for each burst and
// for each millisecond, and it is ahead only if these do not count. `rivals_slowed`: a stock kernel
// takes longer beside the user's processes than alone. `worked_beside_clock`: the thread of a
// user's kernel worked for longer beside its launches than others' (work_beside.h), and it is ahead
// only if that does not count.
std::vector<Doubt> find_doubts(const ProblemRecord& problem, const Confirmation& confirmation,
                               const RunOptions& options);

// How much longer a stock kernel takes in company than alone: the logarithm, by process; only of
// processes in which half of its rounds were clean both times.
std::vector<std::optional<double>> slowdowns(const Confirmation& confirmation, std::string_view id);

// Whether a finding's code is one of these.
bool is_of_samples(std::string_view code);

// Why it is not said that `candidate` is faster than `other`; empty where nothing keeps from it.
std::string why_not_faster(const ProblemRecord& problem, const Confirmation& confirmation,
                           const RunOptions& options, std::string_view candidate,
                           std::string_view other);

}  // namespace assay
