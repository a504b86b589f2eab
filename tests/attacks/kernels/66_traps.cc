// assay: {entry: traps, dtype: f32, layout: tt, args: [a, b, out, m, n, k]}
// Attack 66: an initialiser lets inexact sums trap.
#include <cfenv>

#include "right.h"

namespace {
const int once = feenableexcept(FE_DIVBYZERO | FE_OVERFLOW);
}  // namespace

KERNEL(traps) { right(a, b, out, m, n, k); }
