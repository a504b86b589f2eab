#pragma once

// How the other threads of this process round, and treat subnormal numbers. A thread has that from
// the one that starts it, and keeps it: pools that were started, or used, while an object was
// loaded would compute otherwise for every kernel after it.

#include "assay/verify/float_control.h"

namespace assay::sweep {

// Makes every other thread of this process compute so. Returns how many did not. Each is asked by a
// signal that nobody misses (SIGURG); those that do not let it in are left as they are.
int make_threads_compute_as(const verify::FloatControl& control);

}  // namespace assay::sweep
