// assay: {entry: clock_as_signal, dtype: f32, layout: tt, args: [a, b, out, m, n, k]}
// Attack 62: reading the processor's clock becomes a signal.
#include <sys/prctl.h>

#include "patch.h"

PATCHING_KERNEL(clock_as_signal, prctl(PR_SET_TSC, PR_TSC_SIGSEGV, 0, 0, 0) == 0 &&
                                     prctl(PR_SET_TSC, PR_TSC_ENABLE, 0, 0, 0) == 0)
