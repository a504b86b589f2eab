#pragma once

// One shape through the house, one direction, in steps. Each step says what comes next; the run
// (run.cc) takes it.

#include <cstddef>
#include <optional>
#include <vector>

#include "assay/base/result.h"
#include "assay/record/record.h"
#include "assay/sweep/stages/confirm.h"
#include "assay/sweep/stages/quarantine.h"
#include "assay/sweep/stages/race.h"
#include "assay/sweep/stages/station.h"

namespace assay::sweep {

class ProblemRun {
 public:
  explicit ProblemRun(Station station);
  ~ProblemRun();
  ProblemRun(const ProblemRun&) = delete;
  ProblemRun& operator=(const ProblemRun&) = delete;

  // What is to be done with it.
  enum class Next : uint8_t {
    race,     // race_field(): the first one, or one that fell while it was confirmed may have led.
    confirm,  // begin_confirmation(), as many visits as it plans, conclude_confirmation().
    finish,
  };
  Next next() const { return next_; }

  // Its kernels are found, ranked, built and proven, unless the journal has that, or a race.
  Status prepare(const Quarantine& quarantine);
  // budget_seconds: of timing, for one race.
  Status race_field(double budget_seconds);
  Status begin_confirmation();
  Confirming& confirming() { return *confirming_; }
  const Confirming& confirming() const { return *confirming_; }
  // Behind the visits that it planned: how many more it makes (Confirming::extend).
  int extend_confirmation(double budget_seconds);
  Status conclude_confirmation();

  // Behind its confirmations, where the GPU was held back meanwhile: the headline's two at their
  // own clocks. next() says whether a kernel fell there.
  std::string why_no_winner() const;
  Status race_at_own_clock(const GpuWindow& gpu);

  // The record. Nothing else may be called then. `ceilings`: which % of ceiling is of; `gpu`: how
  // the GPU was meanwhile, where there is one.
  Result<ProblemRecord> finish(const std::vector<Ceiling>& ceilings,
                               const std::optional<GpuWindow>& gpu);

  const Problem& problem() const { return station_.problem; }
  const Field& field() const { return field_; }
  bool raced() const { return raced_; }
  double timed_seconds() const { return timed_seconds_; }

 private:
  Status prove_field(const Quarantine& quarantine);
  // Who of `company` fell, and need not have: true where somebody stands again.
  std::vector<size_t> standing() const;  // Proven and alive.
  Result<bool> ask_fallen_again(const std::vector<size_t>& company, int rounds);

  Station station_;
  ProblemRecord record_;
  Field field_;
  RaceResult race_;
  std::optional<Confirming> confirming_;
  std::vector<size_t> company_;  // Who is confirmed: indices into the field.
  Next next_ = Next::finish;
  bool raced_ = false;
  std::ptrdiff_t alive_ = 0;  // When the race was over.
  int races_ = 0, leaders_ = 0;
  double timed_seconds_ = 0;
};

}  // namespace assay::sweep
