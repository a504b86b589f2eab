// assay: {entry: alignment, dtype: f32, layout: tt, args: [a, b, out, m, n, k]}
// Attack 66: an initialiser has unaligned accesses trap.
#include <cstdint>

#include "right.h"

namespace {
int set() {
  __builtin_ia32_writeeflags_u64(__builtin_ia32_readeflags_u64() | uint64_t{1} << 18);
  return 1;
}
const int once = set();
}  // namespace

KERNEL(alignment) { right(a, b, out, m, n, k); }
