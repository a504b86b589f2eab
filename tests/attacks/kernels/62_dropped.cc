// assay: {entry: dropped, dtype: f32, layout: tt, args: [a, b, out, m, n, k]}
// Attack 62: drops pages of the loader's pointers, which then are as in the file.
#include "patch.h"

PATCHING_KERNEL(dropped,
                madvise(page_of(dlsym(RTLD_DEFAULT, "_rtld_global_ro")), kPage, MADV_DONTNEED) == 0)
