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
#include "assay/measure/perf_counters.h"
#include "assay/op/operation.h"
#include "assay/verify/guard.h"

namespace assay::sweep {

// What one verified launch left, for the referee to judge.
struct ProvenLaunch {
  UniqueFd output;         // A memory file with the output operand's bytes.
  UniqueFd second;         // Of the second launch, where it is not known to have the same bits.
  double launch_ns = 0;    // Of one cold call; a rough figure for planning bursts.
  bool repeatable = true;  // A second launch on new poison gave the same bits.
  std::string trespass;    // Where it wrote outside; empty if nowhere.
  bool inputs_changed = false;
  bool float_control_changed = false;  // Restored since.
};

// A timed output that is still there.
struct TimedOutput {
  UniqueFd output;
  uint64_t variation = 0;  // Seed of the activations that it was made from.
};

class WorkerProblem {
 public:
  // instances[i][operand]: sealed bytes of each input, empty for outputs. Copied into private
  // pages.
  static Result<std::unique_ptr<WorkerProblem>> create(
      Problem problem, Device& device, int threads, std::vector<std::vector<MappedFile>> instances,
      uint64_t seed);

  // repeat: launches twice, on new poison, and compares bit for bit.
  Result<ProvenLaunch> prove(const Kernel& kernel, const Artifact& artifact, size_t instance,
                             bool repeat);

  // Operand sets for timing, made of instance 0: enough of them that what the condition calls cold
  // is three times the last-level cache, and never fewer than four, each placed at random, so that
  // a process's mean is over many placements of buffers, workspaces and panels.
  Status make_rotation(const measure::Condition& condition);
  int sets() const { return static_cast<int>(sets_.size()); }
  // Why cold operands may have been read from a cache nevertheless; empty where it was seen that
  // they were not.
  const std::string& cold_doubt() const { return cold_doubt_; }

  struct Opened {
    int handle = 0;
    uint64_t workspace_bytes = 0, prepared_bytes = 0;
    double prepare_seconds = 0;  // Of one operand set.
  };
  Result<Opened> open(const Kernel& kernel, const Artifact& artifact);
  void close(int handle);

  // Whether every thread but this one came to rest, given time that any honest pool is content
  // with.
  bool at_rest();

  // One burst of `launches` of an open kernel, on the next sets.
  Result<measure::Burst> burst(int handle, int launches, uint64_t round_seed);

  // What the processor counts in about `launches` launches of an open kernel, in bursts as they are
  // timed. Counters are open only here.
  struct Counted {
    int launches = 0;
    double clock_hz = 0;  // Of this thread's core, just before.
    std::vector<measure::EventCount> events;
  };
  Result<Counted> count(int handle, int launches, uint64_t round_seed);

  // One of the outputs of an open kernel's timed launches that no later one has overwritten: which
  // of them is the caller's choice, any number.
  Result<TimedOutput> timed_output(int handle, uint64_t choice);

  // Whether the operand sets still hold what was put there. Reads all of them.
  bool inputs_intact();

  // What was written outside the buffers of an open kernel since the last call; empty if nothing.
  std::string find_trespass(int handle);
  // The same beside the operand sets, which all kernels share.
  std::string find_trespass_beside_inputs();

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
  void vary(size_t set, uint64_t seed);
  std::string check_cold();
  void flush(size_t set, const std::vector<std::span<std::byte>>& panels);
  uint64_t next_seed();

 public:
  ~WorkerProblem();

 private:
  Problem problem_;
  const Operation& operation_;
  Device& device_;
  int threads_;
  uint64_t seed_;
  uint64_t seeds_used_ = 0;
  size_t output_ = 0;  // The operand that is written.
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
  bool flush_ = false;     // Sets are too few to be cold by rotation alone.
  std::string cold_doubt_;
  std::map<std::string, std::weak_ptr<Panels>> panels_;  // By provider, family and layout.
  std::vector<std::unique_ptr<OpenKernel>> open_;
};

}  // namespace assay::sweep
