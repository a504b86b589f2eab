#pragma once

// Where kernels of one problem are timed: on what, under which condition and limits, and by which
// processes. It knows nothing of what a run was asked for, nor of what it keeps.

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "assay/base/result.h"
#include "assay/device/venue.h"
#include "assay/measure/condition.h"
#include "assay/op/problem.h"
#include "assay/process/child.h"
#include "assay/process/messages/begin.h"
#include "assay/timing/candidate.h"

namespace assay::sweep {

// Whoever starts the processes that time and judge: a crew of a run, or a test's.
class Processes {
 public:
  Processes(const Processes&) = delete;
  Processes& operator=(const Processes&) = delete;

  // The companies: a race's, and those of confirming processes, which are fresh.
  static constexpr size_t kRace = 0;
  static constexpr size_t confirming(size_t confirmer) { return confirmer + 1; }

  // Each is started where it is not alive. Of a company the first member holds stock kernels and
  // ours, each other one what a user brought.
  virtual Result<Child*> member(size_t company, size_t index) = 0;
  virtual Result<Child*> referee() = 0;
  // The referee reads outputs in the memory of the GPU that workers use.
  virtual bool referee_sees_gpu() const = 0;
  // Who loaded users' code to list it stands still while others are timed.
  virtual void freeze_guest() = 0;
  // What ran in a process, for those that are started from now on (code_copies.h).
  virtual void learn_code(std::vector<process::RanCode> ran) = 0;
  // What a worker said of itself when it began.
  virtual const process::Init::Answer& facts() const = 0;
  // Whether code that users brought runs on the processor, in the processes that run candidates.
  virtual bool has_native_guests() const = 0;

 protected:
  Processes() = default;
  ~Processes() = default;
};

struct Site {
  Processes& processes;
  const Problem& problem;
  measure::Condition condition;
  const Venue& venue;
  double trial_seconds;  // A candidate's single answer; hangs end here.
  // What users brought is timed in processes of its own, and so are these providers' kernels.
  bool users_apart;
  const std::vector<std::string>& apart;
  // Keeps a commitment to a secret seed, before any candidate sees an input that was made from it.
  std::function<Status(const std::string& commitment)> commit;

  // Limits, filters and handlers that a user's native code set up would meet whatever runs after it
  // in its process; code on a GPU cannot.
  bool taints_process(const Candidate& candidate) const {
    return candidate.outcome.role == KernelRole::user && processes.has_native_guests();
  }
  // Whose process a candidate is timed in: empty, stock kernels' and ours, or one of its own, which
  // rows of one family share. On a GPU all are in one: to take turns would cost them more than it
  // tells.
  std::string home_of(const Candidate& candidate) const;
  // Of the device's memory, what one process needs that times kernels; and so many of users may be
  // there at once, besides the stock kernels'. At least 1.
  double process_bytes(size_t kernels) const;
  size_t guests_at_once() const;
};

}  // namespace assay::sweep
