#pragma once

// One problem in a worker: its inputs, proving launches, operand sets for timing, bursts, and the
// outputs that are left behind. The host's is worker/cpu/problem.h, a GPU's worker/gpu/problem.h;
// the worker knows this alone.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "assay/base/fd.h"
#include "assay/base/result.h"
#include "assay/device/cuda/shared_memory.h"
#include "assay/kernel/kernel.h"
#include "assay/measure/burst.h"
#include "assay/measure/condition.h"
#include "assay/measure/perf_counters.h"
#include "assay/process/kept_constants.h"
#include "assay/process/messages/runs.h"
#include "assay/record/outcome.h"
#include "assay/worker/load_watch.h"

namespace assay::sweep {

// An output on its way to the referee: a memory file, or memory of the GPU.
struct HandedOut {
  UniqueFd file;
  std::optional<cuda::SharedMemory> gpu;
};

// What one verified launch left, for the referee to judge.
struct ProvenLaunch {
  HandedOut output;
  std::optional<HandedOut> second;  // Of the second launch, if it may have other bits.
  int launches = 1;
  double launch_ns = 0;    // Of one cold call; a rough figure for planning bursts.
  bool repeatable = true;  // A second launch on new poison gave the same bits.
  std::string trespass;    // Where it wrote outside; empty if nowhere.
  bool inputs_changed = false;
  bool float_control_changed = false;  // Restored since.
};

// A timed output that is still there.
struct TimedOutput {
  HandedOut output;
  size_t set = 0;       // What it was made from: of operands that do not vary,
  uint64_t launch = 0;  // and the seed of those that do. 0 on the host.
};

class ProblemRunner {
 public:
  virtual ~ProblemRunner() = default;

  // Who sees to what kernels do to this process when they are bound, which may load them. Outlives
  // this.
  void watch_loads(LoadWatch& watch) { loads_ = &watch; }

  // How outputs are handed out from now on: by memory of the GPU, which stays as it is until the
  // next call of this or of what launches, or by files. A machine without a GPU has files alone.
  virtual void hand_out_by_gpu(bool /*by_gpu*/) {}

  // repeat: launches twice, on new poison, and compares bit for bit.
  virtual Result<ProvenLaunch> prove(const Kernel& kernel, const Artifact& artifact,
                                     size_t instance, bool repeat) = 0;

  // Operand sets for timing, with numbers of their own by set_seed(key, set): enough of them that
  // what the condition calls cold is three times the last-level cache, and never fewer than four,
  // each placed at random, so that a process's mean is over many placements of buffers, workspaces
  // and panels.
  virtual Status make_rotation(const measure::Condition& condition, uint64_t key) = 0;
  // Kernels of users' will be open on these sets: what they keep is to be as cold as the operands.
  virtual void cool_copies() {}
  // From now on constants are packed when a set is first used, and not for all sets ahead: most of
  // a race's candidates run a few bursts and are gone. What was packed is dropped from the caches.
  virtual void pack_as_needed() {}
  virtual int sets() const = 0;
  // Why cold operands may have been read from a cache nevertheless; empty where it was seen that
  // they were not.
  virtual const std::string& cold_doubt() const = 0;

  struct Opened {
    int handle = 0;
    uint64_t workspace_bytes = 0, prepared_bytes = 0;
    double prepare_seconds = 0;            // Of one operand set.
    std::vector<GpuLaunchFacts> launches;  // Of device code.
    std::vector<uint64_t> outputs;         // Where plans' outputs lie in turn; empty on a GPU.
  };
  virtual Result<Opened> open(const Kernel& kernel, const Artifact& artifact) = 0;
  virtual void close(int handle) = 0;

  // Whether nothing of ours runs that nobody asked for, given time that any honest pool is content
  // with.
  virtual bool at_rest() = 0;
  // Whether a process was left behind, where it could slow down other kernels.
  virtual bool has_left_processes() { return false; }

  // What nothing changes until other kernels are open on these sets; nothing on a GPU.
  virtual ConstantBytes constants() const { return {}; }

  // One burst of `launches` of an open kernel, on the next sets. In a chain, the handle
  // process::kBareLinks is links without a kernel.
  struct TimedBurst : measure::Burst {
    int64_t others_since_ns = 0;  // What other threads took behind the burst before this one.
    int64_t approach_ns = 0;      // From the launch that led in until operands were cold.
  };
  // That this takes so long from now on, of whatever kernel; 0: as long as it takes.
  virtual void approach_for(int64_t /*least_ns*/) {}
  virtual Result<TimedBurst> burst(int handle, int launches, uint64_t round_seed) = 0;

  // Launches of an open kernel behind one another, on inputs as the bursts left them, for that long
  // by the GPU's events. ErrorCode::unsupported where there is no GPU.
  virtual Result<measure::Burst> block(int /*handle*/, double /*seconds*/) {
    return fail(ErrorCode::unsupported, "blocks are for GPUs");
  }

  // What the processor counts in about `launches` launches of an open kernel, in bursts as they are
  // timed. Counters are open only here. ErrorCode::unsupported where there are none.
  struct Counted {
    int launches = 0;
    double clock_hz = 0;  // Of this thread's core, just before.
    std::vector<measure::EventCount> events;
  };
  virtual Result<Counted> count(int handle, int launches, uint64_t round_seed) = 0;

  // Launches of an open kernel alone, one after the other, each with another operand set: what a
  // profiler around this process is to see, and nothing else (Driver::profile).
  virtual Status profile(int /*handle*/, int /*launches*/) {
    return fail(ErrorCode::unsupported, "launches are profiled on GPUs");
  }

  // On a GPU, one of the outputs of an open kernel's timed launches that no later one has
  // overwritten: which of them is the caller's choice, any number. On the host, what lies where the
  // plan of that number writes: of which launch it is, is told while launches are timed.
  virtual Result<TimedOutput> timed_output(int handle, uint64_t choice) = 0;

  // Whether the operand sets still hold what was put there. Reads all of them.
  virtual bool inputs_intact() = 0;

  // What was written outside the buffers of an open kernel since the last call; empty if nothing.
  virtual std::string find_trespass(int handle) = 0;
  // The same beside the operand sets, which all kernels share.
  virtual std::string find_trespass_beside_inputs() = 0;

 protected:
  // Calls `bind`, which makes plans of this kernel.
  template <class Bind>
  auto watching(const Kernel& kernel, Bind&& bind) {
    return loads_ == nullptr
               ? std::forward<Bind>(bind)()
               : loads_->around(owner_of(kernel.metadata()), std::forward<Bind>(bind));
  }

 private:
  LoadWatch* loads_ = nullptr;
};

}  // namespace assay::sweep
