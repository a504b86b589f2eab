#pragma once

// What a worker is asked of the problem that it has loaded: to launch kernels on its operands, and
// to time them. Candidates run where these are answered, so each answer is anybody's.

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "assay/measure/condition.h"
#include "assay/measure/perf_counters.h"
#include "assay/process/messages/begin.h"
#include "assay/process/messages/values.h"
#include "assay/record/outcome.h"

namespace assay::process {

// The handle of a round's burst of links without a kernel (docs/method.md: chain).
inline constexpr int kBareLinks = -1;

// Instances of the problem: of each the operands that are read, in their order, as files.
struct Load {
  static constexpr const char* kName = "load";
  SentProblem problem;
  uint64_t instances = 0;
  uint64_t seed = 1;
  Files files;
  using Answer = Done;
  Status check() const;
};

// Memory of the GPU, with a word in it that only who sees it can know.
struct ShareWord {
  static constexpr const char* kName = "share";
  struct Answer {
    cuda::SharedMemory memory;
    uint64_t word = 0;
  };
};

struct Prove {
  static constexpr const char* kName = "prove";
  BuiltKernel kernel;
  std::vector<uint64_t> instances;
  bool share = false;  // Outputs are memory of the GPU.

  struct Answer {
    struct Launch {  // Of an instance.
      double ns = 0;
      int launches = 1;
      bool repeatable = true, inputs_changed = false, float_control_changed = false;
      std::string trespass;
      // The first launch's, and the second's where it is not known to be the same.
      std::vector<SentOutput> outputs;
    };
    std::vector<Launch> launches;
    bool left_processes = false, busy_threads = false;
    std::string armed;  // What would run without being launched; empty: nothing.
    ObjectFacts object;
    Files files;
    Status check() const;
  };
  Status check(const Answer& answer) const;
};

// Operand sets for timing.
struct Rotate {
  static constexpr const char* kName = "rotate";
  measure::Condition condition;
  uint64_t key = 0;  // By which the sets get their numbers (op/renewal.h).
  bool users = false, as_needed = false;
  struct Answer {
    int sets = 0;
    std::string cold_doubt;
  };
};

struct Open {
  static constexpr const char* kName = "open";
  BuiltKernel kernel;
  struct Answer {
    int handle = 0;
    bool left_processes = false;
    std::string armed;
    uint64_t workspace_bytes = 0, prepared_bytes = 0;
    double prepare_seconds = 0;
    std::vector<uint64_t> outputs;  // Where plans' outputs lie in turn; empty on a GPU.
    std::vector<GpuLaunchFacts> launches;
    ObjectFacts object;
  };
};

// Memory that nothing of ours changes while these kernels are open.
struct FindConstants {
  static constexpr const char* kName = "constants";
  struct Answer {
    struct Part {
      uint64_t address = 0, bytes = 0;
    };
    std::vector<Part> parts;
    Status check() const;
  };
};

// One burst after the other.
struct Round {
  static constexpr const char* kName = "round";
  struct Burst {
    int handle = 0;
    int launches = 1;
  };
  std::vector<Burst> bursts;
  uint64_t seed = 0;
  int64_t approach_ns = 0;  // Each comes to its clock alike, and no sooner (worker/cpu/approach.h).

  struct Answer {
    struct Timed {
      int64_t ns = 0;
      bool clean = false;
      int64_t waited_ns = 0;
      int launches = 0;
      int64_t taken_ns = 0;         // Processor time of all threads.
      int64_t others_ahead_ns = 0;  // What other threads took ahead of it,
      int64_t others_since_ns = 0;  // and behind the one before.
      int64_t approach_ns = 0;      // How long it took to make it cold.

      // What is left of it without the longest wait for a core.
      int64_t in_cores_ns() const { return std::clamp<int64_t>(ns - waited_ns, 0, ns); }
    };
    // Why the round ended ahead of its last burst.
    enum class End : uint8_t {
      launch_failed,
      late_work,       // Went on behind the clock.
      left_processes,  // Behind its launches.
    };
    struct Ended {
      End how = End::launch_failed;
      int handle = 0;  // Whose burst it was.
      std::string why;
    };
    std::vector<Timed> bursts;  // All that were asked for, unless it ended.
    std::optional<Ended> ended;
    std::string armed;  // What would run without being launched; empty: nothing.
  };
  // A burst may have fewer launches than were asked for, never more.
  Status check(const Answer& answer) const;
};

std::string_view to_string(Round::Answer::End end);

// Launches behind one another for that long.
struct RunBlock {
  static constexpr const char* kName = "block";
  int handle = 0;
  double seconds = 1;
  struct Answer {
    int64_t ns = 0;
    int launches = 0;
  };
};

// One timed output that is still there.
struct Collect {
  static constexpr const char* kName = "collect";
  int handle = 0;
  uint64_t choice = 0;
  bool share = false;
  struct Answer {
    uint64_t set = 0;     // What it was made from: of operands that do not vary,
    uint64_t launch = 0;  // and the seed of those that do. 0 on the host.
    SentOutput output;
    Files files;
    Status check() const;
  };
};

// What was written outside of a kernel's buffers, and beside the inputs; empty: nothing.
struct FindTrespasses {
  static constexpr const char* kName = "trespasses";
  int handle = 0;
  struct Answer {
    std::string trespass, beside_inputs;
  };
};

// What the processor counts.
struct Count {
  static constexpr const char* kName = "count";
  int handle = 0;
  int launches = 0;
  uint64_t seed = 0;
  struct Answer {
    int launches = 0;
    double clock_hz = 0;
    std::vector<measure::EventCount> events;
  };
};

// For a profiler around the process.
struct ProfileLaunches {
  static constexpr const char* kName = "profile";
  int handle = 0;
  int launches = 0;
  using Answer = Done;
};

// Whether the operand sets are as they were, and what was written beside them.
struct LookAtInputs {
  static constexpr const char* kName = "intact";
  struct Answer {
    bool intact = false;
    std::string trespass;
  };
};

struct Close {
  static constexpr const char* kName = "close";
  std::vector<int> handles;
  using Answer = Done;
};

struct Unload {
  static constexpr const char* kName = "unload";
  struct Answer {
    std::vector<RanCode> code;  // That ran there so far.
  };
};

// What a process under a profiler does by itself: no channel may be passed on by a profiler, so the
// requests lie in a file.
struct ProfileScript {
  static constexpr const char* kName = "profile script";
  Init init;
  std::string sources;  // The file of what is beside Init.
  SentProblem problem;
  Rotate rotate;
  Open open;
  int launches = 0;
};

}  // namespace assay::process
