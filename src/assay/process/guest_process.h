#pragma once

// Programs that run users' code while a kernel is compiled: each in a process of its own that has
// given up its rights (confine.h) and stands behind a guard, which ends all that it left behind.

#include "assay/kernel/guest_program.h"

namespace assay::sweep {

// Asks a worker that has nothing else to do. Errors: machine where that cannot be started;
// interrupted where cancel_fd becomes readable.
Result<CommandOutput> run_confined(const GuestProgram& program);
Result<CommandOutput> run_confined_until(const GuestProgram& program, int cancel_fd);

// What a compiler may take, in bytes: half of the machine's memory, or `limit` where that is not 0,
// and a GiB in any case.
int64_t compiler_memory(int64_t limit);

}  // namespace assay::sweep
