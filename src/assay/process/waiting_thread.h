#pragma once

// The processor time of another process's first thread, which waits for us. If it sleeps the figure
// is exact. Of a thread that runs, what the system tells is as old as the last tick, or as the last
// time that it asked for its own.

#include <cstdint>
#include <sys/types.h>

#include "assay/base/fd.h"

namespace assay::sweep {

class WaitingThread {
 public:
  enum class Of { now, asleep };
  // In ns since it began. -1: it does not fall asleep within a moment, or the system does not tell.
  int64_t processor_time(pid_t process, Of of);

 private:
  UniqueFd state_, time_;
  pid_t process_ = -1;  // Whose files they are.
};

}  // namespace assay::sweep
