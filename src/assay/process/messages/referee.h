#pragma once

// What the referee is asked.

#include <optional>
#include <string>
#include <vector>

#include "assay/op/operation.h"
#include "assay/process/messages/values.h"
#include "assay/tensor/error_bound.h"

namespace assay::process {

// From now on it compares on this GPU.
struct OpenGpu {
  static constexpr const char* kName = "open_gpu";
  std::string device, cuda_driver;
  using Answer = Done;
};

// Whether it sees the word in memory that a worker shares; an error says that it does not.
struct ViewWord {
  static constexpr const char* kName = "view";
  cuda::SharedMemory memory;
  uint64_t word = 0;
  using Answer = Done;
};

// To a new secret seed.
struct Commit {
  static constexpr const char* kName = "commit";
  struct Answer {
    uint64_t seed = 0;  // Its number.
    std::string commitment;
  };
};

// Of inputs, those that say something about the problem's kernels, of those that promise that bound
// too.
struct ChooseKinds {
  static constexpr const char* kName = "kinds";
  SentProblem problem;
  ErrorBound bound = ErrorBound::elementwise;
  struct Answer {
    std::vector<InputKind> kinds;
  };
};

// Instances that the referee keeps, and a worker's inputs of all of them, in their order.
struct MadeInstances {
  struct Made {
    int64_t id = 0;
    uint64_t sets_key = 0;  // By which the operand sets for timing get their numbers.
    uint64_t inputs = 0;    // Files.
  };
  std::vector<Made> instances;
  Files files;
  Status check() const;
};

struct MakeInstances {
  static constexpr const char* kName = "instances";
  SentProblem problem;
  std::vector<InputKind> kinds;
  uint64_t seed = 0;
  using Answer = MadeInstances;
  Status check(const Answer& answer) const;
};

// Others by permuting those, each under a seed of its own.
struct Derive {
  static constexpr const char* kName = "derive";
  struct Wanted {
    int64_t instance = 0;
    uint64_t seed = 0;
  };
  std::vector<Wanted> wanted;
  using Answer = MadeInstances;
  Status check(const Answer& answer) const;
};

// It works out on its GPU what outputs of these will be compared with.
struct PrepareChecks {
  static constexpr const char* kName = "prepare";
  std::vector<int64_t> instances;
  using Answer = Done;
};

struct CheckOutput {
  static constexpr const char* kName = "check";
  int64_t instance = 0;
  ErrorBound bound = ErrorBound::elementwise;
  // Of which operands, and of which launch of theirs, it is the output; none: of the inputs as they
  // were made.
  struct Timed {
    uint64_t set = 0;
    uint64_t launch = 0;
  };
  std::optional<Timed> timed;
  SentOutput output;
  Files files;
  struct Answer {
    Check check;
  };
  Status check() const;
};

struct Reveal {
  static constexpr const char* kName = "reveal";
  uint64_t seed = 0;
  struct Answer {
    std::string seed;  // Hex.
  };
};

// It forgets that instance.
struct Drop {
  static constexpr const char* kName = "drop";
  int64_t instance = 0;
  using Answer = Done;
};

}  // namespace assay::process
