#pragma once

// What code that users brought left changed in this process, beside its results.

#include <string>
#include <sys/types.h>
#include <vector>

#include "assay/base/clock.h"
#include "assay/measure/scheduler_watch.h"

namespace assay::sweep {

// So long other threads may take to come to rest after a launch: OpenBLAS's pthreads build spins
// about 100 ms after a call (measured); on a loaded machine longer.
inline constexpr int64_t kRestNs = kNsPerSecond;

// Whether this process has started others, or has them from those (confine()), and has not waited
// for all of them. Costs a system call.
bool has_children();

class Manners {
 public:
  static Manners look();  // Before any of it is loaded.

  // Sentences on what is not as it was: threads at work, processes, streams. (process_state.h has
  // what can be put back.)
  std::vector<std::string> find_faults(measure::SchedulerWatch& watch) const;

 private:
  struct File {
    bool open = false;
    dev_t device = 0;
    ino_t inode = 0;
    bool operator==(const File&) const = default;
  };
  static File file_at(int descriptor);

  File streams_[3];
};

}  // namespace assay::sweep
