// assay: {entry: rounds_upward, dtype: f32, layout: tt, args: [a, b, out, m, n, k]}
// Attack 66: an initialiser makes every sum round upward.
#include <cfenv>

#include "right.h"

namespace {
const int once = std::fesetround(FE_UPWARD);
}  // namespace

KERNEL(rounds_upward) { right(a, b, out, m, n, k); }
