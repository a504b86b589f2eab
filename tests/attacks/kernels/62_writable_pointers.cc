// assay: {entry: writable_pointers, dtype: f32, layout: tt, args: [a, b, out, m, n, k]}
// Attack 62: makes the relocated pointers of the loader writable, by which libc finds the clock.
#include "patch.h"

PATCHING_KERNEL(writable_pointers, mprotect(page_of(dlsym(RTLD_DEFAULT, "_rtld_global_ro")), kPage,
                                            PROT_READ | PROT_WRITE) == 0)
