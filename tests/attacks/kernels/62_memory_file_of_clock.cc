// assay: {entry: memory_file_of_clock, dtype: f32, layout: tt, args: [a, b, out, m, n, k]}
// Attack 62: writes to the vDSO through the file that shows a thread's memory.
#include "patch.h"

PATCHING_KERNEL(memory_file_of_clock, writes_through("/proc/thread-self/mem", clock_page() + 1024))
