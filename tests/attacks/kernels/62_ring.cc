// assay: {entry: ring, dtype: f32, layout: tt, args: [a, b, out, m, n, k]}
// Attack 62: a ring of requests, by which the system writes what no filter sees.
#include "patch.h"

PATCHING_KERNEL(ring, [] {
  char parameters[256] = {};
  return syscall(425, 4, parameters) >= 0;
}())
