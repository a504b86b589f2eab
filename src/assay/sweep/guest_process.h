#pragma once

// Programs that run users' code while a kernel is compiled: each in a process of its own that has
// given up its rights (confine.h) and stands behind a guard, which ends all that it left behind.

#include "assay/kernel/guest_program.h"

namespace assay::sweep {

// Asks a worker that has nothing else to do. Errors: machine where that cannot be started.
Result<CommandOutput> run_confined(const GuestProgram& program);

}  // namespace assay::sweep
