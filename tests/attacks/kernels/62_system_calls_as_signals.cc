// assay: {entry: system_calls_as_signals, dtype: f32, layout: tt, args: [a, b, out, m, n, k]}
// Attack 62: system calls become signals, whose handler answers in the system's place.
#include <sys/prctl.h>

#include "patch.h"

namespace {
char calls_pass = 0;
}  // namespace

PATCHING_KERNEL(system_calls_as_signals,
                prctl(59, 1, 0, 0, &calls_pass) == 0 && prctl(59, 0, 0, 0, 0) == 0)
