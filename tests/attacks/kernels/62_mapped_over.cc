// assay: {entry: mapped_over, dtype: f32, layout: tt, args: [a, b, out, m, n, k]}
// Attack 62: maps a page of its own over the program.
#include "patch.h"

PATCHING_KERNEL(mapped_over, mmap(program_page(), kPage, PROT_READ | PROT_EXEC,
                                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == program_page())
