// assay: {entry: protection_key, dtype: f32, layout: tt, args: [a, b, out, m, n, k]}
// Attack 62: as 62_writable_library, by a call that few know.
#include "patch.h"

PATCHING_KERNEL(protection_key, syscall(SYS_pkey_mprotect, libc_page("pread"), kPage,
                                        PROT_READ | PROT_WRITE | PROT_EXEC, -1) == 0)
