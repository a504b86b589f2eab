// assay: {entry: half_precision, dtype: f32, layout: tt, args: [a, b, out, m, n, k]}
// Attack 66: an initialiser sets the x87 to 24 bits.
#include "right.h"

namespace {
int set() {
  unsigned short control = 0;
  asm volatile("fnstcw %0" : "=m"(control));
  control &= static_cast<unsigned short>(~0x300);
  asm volatile("fldcw %0" : : "m"(control));
  return 1;
}
const int once = set();
}  // namespace

KERNEL(half_precision) { right(a, b, out, m, n, k); }
