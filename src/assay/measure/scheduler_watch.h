#pragma once

// On a CPU the scheduler is the throttle. The watch tells how long this process's threads waited
// for a core, and whether the hypervisor took the core away.

#include <cstdint>
#include <map>
#include <sys/types.h>

#include "assay/base/fd.h"
#include "assay/base/result.h"

namespace assay::measure {

class SchedulerWatch {
 public:
  struct Reading {
    std::map<pid_t, int64_t> run_delay_ns;  // Per thread, since it began.
    int64_t steal_ticks = 0;                // Of the whole machine, 10 ms each.
    bool readable = false;                  // False where the kernel keeps no schedstat.
  };

  struct Waited {
    int64_t longest_ns = 0;  // Of any one thread.
    int64_t steal_ticks = 0;
    bool readable = false;
  };

  Reading read();
  static Waited between(const Reading& before, const Reading& after);

  // Waits until every other thread of this process sleeps, at most `limit_ns`: a thread pool that
  // spins after a call would slow the next candidate. False if some thread never came to rest.
  bool wait_until_quiet(int64_t limit_ns);

  int threads();

 private:
  struct Thread {
    UniqueFd schedstat, stat;
  };
  void refresh();

  std::map<pid_t, Thread> threads_;
  UniqueFd task_directory_;
  UniqueFd machine_stat_;
};

}  // namespace assay::measure
