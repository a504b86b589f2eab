// assay: {entry: unmapped, dtype: f32, layout: tt, args: [a, b, out, m, n, k]}
// Attack 62: takes a page of libc away, and maps one of its own there.
#include "patch.h"

PATCHING_KERNEL(unmapped, munmap(libc_page("hcreate"), kPage) == 0)
