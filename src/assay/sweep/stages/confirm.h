#pragma once

// One confirmation of one problem, a fresh process at a time. A run visits each of its problems in
// one process before it begins the next one (passes.h): what the machine does for seconds at a time
// then meets some processes of a problem and not the others, and shows in their spread.

#include <memory>
#include <string>
#include <vector>

#include "assay/stats/plan_confirm.h"
#include "assay/sweep/stages/race.h"
#include "assay/sweep/stages/station.h"
#include "assay/timing/bursts.h"
#include "assay/timing/instances.h"

namespace assay::sweep {

class Confirming {
 public:
  // Leader, candidate and finalists are fixed here, before the first confirming sample.
  // Station and field must outlive it.
  Confirming(const Station& station, Field& field, const RaceResult& race);

  // Makes the inputs that those of all processes derive from.
  Status begin();

  // The samples of one process, in three steps: inputs under a new seed, to be derived from base(),
  // `confirmer` being one of the crew that has not seen this problem; what is set up side by side
  // (Crew::side_by_side); and its timing, one after the other, with everything else at rest.
  struct Visit {
    Instances instances;
    Bursts bursts;
  };
  Result<std::unique_ptr<Visit>> visit(size_t confirmer);
  const Instances& base() const { return base_; }
  Status set_up(Visit& visit);
  // Between the first's set-up and its timing: how many processes and rounds there are.
  // budget_seconds is of timing, for all processes, 0 without limit; setup_seconds is what one
  // process takes beside it.
  void plan(double budget_seconds, double setup_seconds);
  Status time(Visit& visit);
  // Behind the last of the plan, once: more processes if these lie further apart than the plan
  // supposed, as long as their rounds fit into budget_seconds. Returns how many.
  int extend(const stats::SeenWidth& seen, double budget_seconds);
  // Without a conclusion.
  const Confirmation& so_far() const { return confirmation_; }

  int visited() const { return static_cast<int>(confirmation_.processes.size()); }
  bool planned() const { return planned_; }
  int processes() const { return plan_.processes; }  // Before the plan, the fewest.
  double bytes() const;                              // Of the device's memory, in one process.
  double planned_seconds() const { return plan_.processes * process_seconds(); }
  double process_seconds() const { return plan_.rounds * round_ns_ * 1e-9; }  // Of timing.

  // Without a conclusion.
  Result<Confirmation> end();
  double timed_seconds() const { return timed_seconds_; }
  // As of a race; of the last process in doubt.
  const std::string& cold_doubt() const { return cold_doubt_; }
  // Why it could not be counted among others of the candidate, if so.
  const std::string& uncounted() const { return uncounted_; }

 private:
  void equalise_launches();
  Status prove_again(Bursts& bursts, const Instances& instances, const std::vector<size_t>& who);
  // Finalists in the stock kernels' process, or in users'.
  std::vector<size_t> of_stock(const Bursts& bursts, bool are_stocks) const;
  // Of whom it is seen whether the candidate's process slows them down: stock kernels and ours; if
  // none of these is there, users' kernels of other files.
  std::vector<size_t> watched(const Bursts& bursts) const;
  Status make_rounds_alone(Bursts& bursts, const std::vector<size_t>& who, ProcessSamples& samples);
  Status make_rounds(Bursts& bursts, const Instances& instances, ProcessSamples& samples);

  const Station& station_;
  Field& field_;
  double spread_, round_ns_;  // Of the rounds to come, by the race.
  stats::ConfirmPlan plan_;
  bool planned_ = false, extended_ = false;
  uint64_t set_up_ = 0;            // Visits.
  std::vector<size_t> finalists_;  // Indices into the field.
  Instances base_;
  Confirmation confirmation_;
  double timed_seconds_ = 0;
  std::string cold_doubt_, uncounted_;
};

}  // namespace assay::sweep
