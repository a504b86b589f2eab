// assay: {entry: writable_library, dtype: f32, layout: tt, args: [a, b, out, m, n, k]}
// Attack 62: makes libc writable, where operands are read from files.
#include "patch.h"

PATCHING_KERNEL(writable_library,
                mprotect(libc_page("pread"), kPage, PROT_READ | PROT_WRITE | PROT_EXEC) == 0)
