// assay: {entry: writable_clock, dtype: f32, layout: tt, args: [a, b, out, m, n, k]}
// Attack 62: makes the vDSO writable, where the clock is read.
#include "patch.h"

PATCHING_KERNEL(writable_clock,
                mprotect(clock_page(), kPage, PROT_READ | PROT_WRITE | PROT_EXEC) == 0)
