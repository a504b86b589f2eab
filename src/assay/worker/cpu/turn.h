#pragma once

// One burst of a kernel that is open on the CPU: which operand sets its launches take, what lies
// there when each of them begins, and what is told of it while the clock runs.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "assay/base/result.h"
#include "assay/kernel/kernel.h"
#include "assay/measure/burst.h"
#include "assay/measure/own_waits.h"
#include "assay/process/told_launches.h"
#include "assay/worker/cpu/prepared_pool.h"
#include "assay/worker/cpu/problem.h"

namespace assay::sweep {

// Packed constants, by operand set; shared by the open kernels of one layout.
struct WorkerProblem::Panels {
  PreparedPool pool;
  std::vector<std::span<std::byte>> sets;
  double prepare_seconds = 0;  // Of one set.
};

struct WorkerProblem::OpenKernel {
  Kernel kernel;
  Artifact artifact;
  std::unique_ptr<verify::GuardedArena> buffers;  // Outputs, then workspaces.
  std::shared_ptr<Panels> panels;                 // Outlive the plans that point into them.
  std::vector<std::optional<Plan>> plans;         // One per operand set, or none yet.
  measure::OwnWaits own_waits;
  uint64_t workspace_bytes = 0;
  uint64_t gaps_seed = 0;          // Of what lies between rows of outputs.
  size_t outputs = kLeastOutputs;  // Launches go round them.
  bool has_run = false;            // A burst.
};

// Cold: one stretch of launches through sets that were not used lately. Warm: one launch a stretch,
// each on numbers that did not exist when the one before it ended, behind one that warms operands
// and is not timed.
class WorkerProblem::Turn final : public measure::Launches {
 public:
  Turn(WorkerProblem& problem, OpenKernel& kernel, int launches, uint64_t seed);
  // What a burst costs in the end: operands that are to be cold again.
  ~Turn() override;

  // Before the burst, at any length.
  Status bind();

  Result<bool> lead_in() override;
  Result<bool> make_cold() override;
  Status make_ready(uint64_t key) override;
  std::span<const std::byte> told_at_start() override { return as_told(ahead_); }
  Plan* draw() override;
  std::span<const std::byte> told_at_stop() override;

  // How long it took to make the burst cold, behind the launch that led in.
  int64_t approach_ns() const { return approach_ns_; }

 private:
  void rehearse();
  void give_inputs(size_t plan);
  void forget_lead_in();
  void equalise_outputs();
  std::span<const std::byte> written_by(size_t plan) const;
  size_t take();

  WorkerProblem& problem_;
  OpenKernel& kernel_;
  size_t wanted_;
  uint64_t key_ = 0;  // Of what is still to come, up to the next launch.
  bool leads_in_ = false;
  int64_t led_in_ns_ = 0, approach_ns_ = 0;
  std::vector<size_t> chosen_, left_, used_;  // Plans: of the burst, of this stretch, launched.
  std::vector<ToldLaunch> told_;              // Of this stretch.
  std::vector<ToldLaunch> ahead_;             // The same behind the launch that leads in.
  ToldDigest digest_;
};

}  // namespace assay::sweep
