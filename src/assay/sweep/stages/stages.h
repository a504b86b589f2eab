#pragma once

// The stations of one problem, in order. Each takes what the one before gave; run_problem.cc reads
// like this list.

#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "assay/base/result.h"
#include "assay/kernel/metadata.h"
#include "assay/op/operation.h"
#include "assay/process/messages.h"
#include "assay/record/record.h"
#include "assay/sweep/crew.h"
#include "assay/sweep/journal.h"
#include "assay/sweep/stages/candidate.h"
#include "assay/sweep/sweep.h"

namespace assay::sweep {

class Instances;

// What all stations of one problem share.
struct Station {
  const Request& request;
  Crew& crew;
  Journal& journal;
  Observer& observer;
  const Problem& problem;
  measure::Condition condition;
  // Limits, filters and handlers that a user's native code set up would meet whatever runs after it
  // in its process; code on a card cannot.
  bool taints_process(const Candidate& candidate) const {
    return candidate.outcome.role == KernelRole::user && crew.has_native_guests();
  }
  // Whose process a candidate is timed in: empty, stock kernels' and ours, or one of its own, which
  // rows of one family share. On a card all are in one: to take turns would cost them more than it
  // tells.
  std::string home_of(const Candidate& candidate) const;
  // Of the device's memory, what one process needs that times kernels; and so many of users may be
  // there at once, besides the stock kernels'. At least 1.
  double process_bytes(size_t kernels) const;
  size_t guests_at_once() const;
};

// Who can do it; why the others cannot.
Result<Field> find_candidates(const Station& station);

// What rankers say of the field's kernels, whose rows these are: where each stands by each of them,
// and which of those that cost much to compile come first. Nothing where none does. target: where
// it is not the workers' own device.
Status rank(const Request& request, Crew& crew, const Problem& problem,
            const std::optional<std::string>& target, std::span<const KernelMetadata> rows,
            Field& field);

// Those that are neither among the first nor in the cache leave the field, counted with the reason.
Status leave_out(const Station& station, Field& field);

// Compiled forms, from the cache or a compiler. A failure ends that candidate alone.
Status build(const Station& station, Field& field);

// Right or not, and how that was checked. A crash ends that candidate alone. build: what makes the
// field ready to be proven, beside which workers begin and inputs are made.
Status prove(const Station& station, Field& field, const std::function<Status()>& build);

// Whether a kernel ended in a way in which others can make it end by what they take of the machine.
inline bool fails_by_limits(const Ending& ending) {
  return std::holds_alternative<ending::Crash>(ending) ||
         std::holds_alternative<ending::Timeout>(ending) ||
         std::holds_alternative<ending::OutOfMemory>(ending);
}

// Adds what a check saw of errors in the mean; and, once everybody was looked at, ends those whose
// errors are not what they declare (record/coarse.h).
void add_mean_errors(ProofSummary& proof, const Check& check);
void judge_mean_errors(const Station& station, Field& field);

// Of a candidate behind whose launches a process, or other work, went on.
Ending left_processes();
Ending late_work(const std::string& what);

// Judges what a worker answered. The numbers of instances are those of `instances`.
Status judge_proof(Candidate& candidate, const Instances& instances, const process::Prove& asked,
                   process::Prove::Answer answer, Child& worker);

// Rounds against one another; spends, claims nothing.
struct RaceResult {
  RaceRecord record;
  std::vector<std::string> finalists;  // Ids; leader first.
  std::string leader, candidate, baseline;
  double spread = 0;         // Of one round's log ratio, which confirming has to beat.
  double round_ns = 0;       // One round of the finalists, switching included.
  double timed_seconds = 0;  // Of bursts and of what they need around them.
  std::string cold_doubt;    // Why operands may not have been cold, if there is doubt.
};
// It makes at least one round of all, and none that begins after its budget.
Result<RaceResult> race(const Station& station, Field& field, double budget_seconds);

// Then fresh processes, fresh secret seeds, rounds fixed beforehand: the samples of a claim
// (confirm.h).

// What the processor counts while the finalists run, after every claim was timed. Finalists that
// are not in the answer did not survive being counted.
Result<std::map<std::string, EventCounts>> count_events(const Station& station, Field& field,
                                                        const std::vector<std::string>& finalists);

// The same of a card, by the profiler of the request: last of all, with no other process of ours
// left on the card. What it cannot say is data, too.
Result<std::map<std::string, CardProfile>> profile_kernels(
    const Station& station, const Field& field, const std::vector<std::string>& finalists);

// What to add to a child's answer's end: the record's ending for a death in `stage`.
Ending ending_of(const CallFailure& failure, const std::string& stage);

}  // namespace assay::sweep
