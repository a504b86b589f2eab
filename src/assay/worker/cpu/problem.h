#pragma once

// One problem inside a worker: its operands, the kernels that are open on it, proofs and bursts.
// The worker sees copies of inputs and never a reference.

#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "assay/base/fd.h"
#include "assay/base/result.h"
#include "assay/kernel/kernel.h"
#include "assay/measure/burst.h"
#include "assay/measure/condition.h"
#include "assay/measure/scatter.h"
#include "assay/op/outputs.h"
#include "assay/process/set_turns.h"
#include "assay/verify/guard.h"
#include "assay/verify/output_gaps.h"
#include "assay/worker/code_copies.h"
#include "assay/worker/cpu/approach.h"
#include "assay/worker/cpu/kept_copies.h"
#include "assay/worker/cpu/operand_sets.h"
#include "assay/worker/problem_runner.h"

namespace assay::sweep {

class WorkerProblem final : public ProblemRunner {
 public:
  // instances[i][operand]: sealed bytes of each input, empty for outputs. Copied into private
  // pages. pulses: who is told of each burst's moments.
  static Result<std::unique_ptr<WorkerProblem>> create(
      Problem problem, Device& device, int threads, std::vector<std::vector<MappedFile>> instances,
      uint64_t seed, const PulseSender& pulses);

  ~WorkerProblem() override;

  Result<ProvenLaunch> prove(const Kernel& kernel, const Artifact& artifact, size_t instance,
                             bool repeat) override;
  Status make_rotation(const measure::Condition& condition, uint64_t key) override;
  void cool_copies() override;
  void pack_as_needed() override;
  void approach_for(int64_t least_ns) override { approach_ns_ = least_ns; }
  int sets() const override { return static_cast<int>(plans_); }
  const std::string& cold_doubt() const override { return sets_->cold_doubt(); }
  Result<Opened> open(const Kernel& kernel, const Artifact& artifact) override;
  void close(int handle) override;
  ConstantBytes constants() const override;
  bool at_rest() override;
  bool has_left_processes() override;
  Result<TimedBurst> burst(int handle, int launches, uint64_t round_seed) override;
  Result<Counted> count(int handle, int launches, uint64_t round_seed) override;
  Result<TimedOutput> timed_output(int handle, uint64_t choice) override;
  bool inputs_intact() override;
  std::string find_trespass(int handle) override;
  std::string find_trespass_beside_inputs() override;

 private:
  struct InputSet {
    verify::GuardedArena arena;
    std::vector<size_t> index;  // By operand: buffer in the arena, or none for outputs.
    std::vector<uint64_t> hashes;
  };
  struct Panels;
  struct OpenKernel;
  class Turn;

  WorkerProblem(Problem problem, Device& device, int threads, uint64_t seed);
  Result<OpenKernel*> kernel_at(int handle);
  Status bind(OpenKernel& kernel, size_t plan);
  void cool_what_is_kept() const;
  uint64_t next_seed();
  bool is_warm() const { return condition_.cache == measure::Cache::warm; }
  // The operand set of a plan.
  size_t set_of(size_t plan) const { return is_warm() ? 0 : plan; }

  Problem problem_;
  Device& device_;
  int threads_;
  uint64_t seed_;
  uint64_t seeds_used_ = 0;
  measure::Scatter scatter_;  // Before anything else is allocated.
  OutputPlaces outputs_;      // What a launch writes is one buffer.
  verify::OutputGaps gaps_;   // In it.
  std::unique_ptr<Stream> stream_;
  measure::SchedulerWatch watch_;
  std::vector<InputSet> instances_;
  measure::Condition condition_;
  std::unique_ptr<OperandSets> sets_;
  std::unique_ptr<SetTurns> turns_;
  bool packs_as_needed_ = false;
  CodeCopies code_;
  std::unique_ptr<KeptCopies> copies_;  // Where users' kernels may keep some.
  std::unique_ptr<Approach> approach_;  // Where operands are flushed.
  int64_t approach_ns_ = 0;
  size_t plans_ = 0;       // Of each open kernel: one for each set, or if warm for each output.
  bool launched_ = false;  // Since somebody last looked beside the operand sets.
  std::map<std::string, std::weak_ptr<Panels>> panels_;  // By provider, family and layout.
  std::vector<std::unique_ptr<OpenKernel>> open_;
  int last_ = -1;                      // Handle of the burst before.
  int64_t others_at_last_end_ns_ = 0;  // Burst::others_at_end_ns of that one.
  PulseSender pulses_;
};

}  // namespace assay::sweep
