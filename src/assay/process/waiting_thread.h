#pragma once

// The processor time of another process's first thread while it waits for us. It stands still then,
// so the figure is exact; of a thread that runs, what the system tells is as old as its last tick.

#include <cstdint>
#include <sys/types.h>

#include "assay/base/fd.h"

namespace assay::sweep {

class WaitingThread {
 public:
  // In ns since it began. -1: it does not come to wait within a moment, or the system does not
  // tell.
  int64_t processor_time(pid_t process);

 private:
  UniqueFd state_, time_;
  pid_t process_ = -1;  // Whose files they are.
};

}  // namespace assay::sweep
