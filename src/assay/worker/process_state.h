#pragma once

// What code that is loaded into this process must leave as it is: an object's initialisers run as
// soon as it is mapped, before any launch, and everybody after it computes with what they set.

#include <array>
#include <csignal>
#include <cstdint>
#include <string>
#include <sys/types.h>
#include <vector>

#include "assay/base/fd.h"
#include "assay/record/outcome.h"
#include "assay/verify/float_control.h"

namespace assay::sweep {

class ProcessState {
 public:
  static ProcessState read();

  // Puts back what is not as it was, in all threads, and says what that was, each to follow "it":
  // "float_control" for what changes results, "process_state" for the rest. Handlers of signals
  // that were installed stay for armed_code.h, which convicts for them.
  std::vector<Finding> restore() const;

 private:
  static constexpr int kSignals = 64;
  struct Disposition {
    uintptr_t handler = 0;
    unsigned long flags = 0, restorer = 0;
    uint64_t mask = 0;
  };
  static Disposition disposition_of(int signal);

  verify::FloatControl floats_;
  uint64_t processor_flags_ = 0;  // Direction, and whether unaligned accesses trap.
  uintptr_t stack_guard_ = 0;
  std::string locale_, threads_locale_;
  mode_t mask_ = 0;
  std::string folder_;
  UniqueFd open_folder_;
  int priority_ = 0, policy_ = 0;
  sigset_t blocked_{};
  std::array<Disposition, kSignals + 1> signals_{};
  std::vector<std::string> environment_;
};

}  // namespace assay::sweep
