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
#include "assay/op/operation.h"
#include "assay/sweep/problem_runner.h"
#include "assay/verify/guard.h"

namespace assay::sweep {

class WorkerProblem final : public ProblemRunner {
 public:
  // instances[i][operand]: sealed bytes of each input, empty for outputs. Copied into private
  // pages.
  static Result<std::unique_ptr<WorkerProblem>> create(
      Problem problem, Device& device, int threads, std::vector<std::vector<MappedFile>> instances,
      uint64_t seed);

  Result<ProvenLaunch> prove(const Kernel& kernel, const Artifact& artifact, size_t instance,
                             bool repeat) override;
  Status make_rotation(const measure::Condition& condition) override;
  int sets() const override { return static_cast<int>(sets_.size()); }
  const std::string& cold_doubt() const override { return cold_doubt_; }
  Result<Opened> open(const Kernel& kernel, const Artifact& artifact) override;
  void close(int handle) override;
  bool at_rest() override;
  bool has_left_processes() override;
  Result<measure::Burst> burst(int handle, int launches, uint64_t round_seed) override;
  void look_at_next_burst() override { look_ = true; }
  std::optional<int> find_late_work() override;
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
  struct Set {
    std::vector<void*> data;  // By operand; null for outputs.
    uint64_t variation = 0;
  };
  struct Panels;
  struct OpenKernel;

  WorkerProblem(Problem problem, const Operation& operation, Device& device, int threads,
                uint64_t seed);
  Result<OpenKernel*> kernel_at(int handle);
  // The plans of the next `launches` launches, as many as the sets allow, with their inputs varied.
  Status line_up(OpenKernel& kernel, int launches, uint64_t round_seed);
  void clean_up(OpenKernel& kernel);  // After they ran.
  void aim_look(OpenKernel& kernel);
  void vary(size_t set, uint64_t seed);
  std::string check_cold();
  void flush(size_t set, const std::vector<std::span<std::byte>>& panels);
  uint64_t next_seed();

 public:
  ~WorkerProblem() override;

 private:
  Problem problem_;
  const Operation& operation_;
  Device& device_;
  int threads_;
  uint64_t seed_;
  uint64_t seeds_used_ = 0;
  measure::Scatter scatter_;  // Before anything else is allocated.
  size_t output_;             // The operand that is written.
  std::unique_ptr<Stream> stream_;
  measure::SchedulerWatch watch_;
  std::vector<InputSet> instances_;
  std::vector<std::byte> pristine_varied_;
  measure::Condition condition_;
  std::unique_ptr<verify::GuardedArena> rotation_;
  std::vector<Set> sets_;
  size_t sharers_ = 1;  // So many sets in a row have the same operands (warm ones).
  size_t cursor_ = 0;
  bool launched_ = false;  // Since somebody last looked beside the operand sets.
  bool look_ = false;      // At the next burst's outputs, when its clock stops.
  bool flush_ = false;     // Sets are too few to be cold by rotation alone.
  std::string cold_doubt_;
  std::map<std::string, std::weak_ptr<Panels>> panels_;  // By provider, family and layout.
  std::vector<std::unique_ptr<OpenKernel>> open_;
};

}  // namespace assay::sweep
