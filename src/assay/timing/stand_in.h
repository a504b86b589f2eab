#pragma once

// What a burst of another process leaves behind on a core, left by us: so kernels that race alone
// find caches and address translations as they do in company.

#include <sys/types.h>

namespace assay::sweep {

// On each core that the process may use, the calling thread reads more than a core's own caches
// hold. Where the system refuses, nothing happens.
void stand_in_for_others(pid_t process);

}  // namespace assay::sweep
