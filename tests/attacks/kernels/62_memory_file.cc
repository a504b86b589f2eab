// assay: {entry: memory_file, dtype: f32, layout: tt, args: [a, b, out, m, n, k]}
// Attack 62: writes to the code of libc through the file that shows its memory.
#include "patch.h"

PATCHING_KERNEL(memory_file, writes_through("/proc/self/mem", dlsym(RTLD_DEFAULT, "pread")))
