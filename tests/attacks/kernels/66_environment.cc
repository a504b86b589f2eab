// assay: {entry: environment, dtype: f32, layout: tt, args: [a, b, out, m, n, k]}
// Attack 66: an initialiser tells libraries that are loaded later to use one thread.
#include <cstdlib>

#include "right.h"

namespace {
const int once = setenv("OMP_NUM_THREADS", "1", 1) + setenv("FOREIGN_WORD", "1", 1);
}  // namespace

KERNEL(environment) { right(a, b, out, m, n, k); }
