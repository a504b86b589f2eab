#pragma once

// Between the parent and each worker stands a guard: the worker's own parent, which runs none of
// the code that it guards. When the worker has ended, or the parent has (by SIGKILL too), the guard
// ends every process that the worker left behind, those in sessions of their own included. Where it
// may, it puts the worker into namespaces of its own, in which there is nobody else to signal and
// nothing to write to.

#include <optional>
#include <string>
#include <sys/types.h>

#include "assay/base/result.h"

namespace assay::sweep {

// What a worker finds itself in.
struct Surroundings {
  bool is_guard = false;  // This process was the guard, and its work is done: return from main.
  pid_t guard = -1;       // As the parent counts processes; -1 without a guard.
  bool own_processes = false;  // A process namespace: nobody else can be named.
  bool own_proc = false;       // And /proc shows no others.
  bool read_only = false;      // Every file system, but for /dev/shm, which is new and empty.
  // In the whole machine, of the user that this process is; none where that is root, who is not
  // held to any number.
  std::optional<int64_t> users_threads;
  std::string shared;  // Why some of that is missing, in the system's words.
};

// Called first in a worker, while it has one thread: forks, and returns in both processes. Where no
// guard is wanted (kGuardFd is not open) nothing happens.
// It speaks as process/messages/guard.h says. When the parent closes its end, everything ends.
Result<Surroundings> stand_guard();

}  // namespace assay::sweep
