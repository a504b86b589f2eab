// assay: {entry: loops, dtype: f32, layout: tt, args: [a, b, out, m, n, k]}
#include "right.h"

KERNEL(loops) {
  right(a, b, out, m, n, k);
  for (volatile int forever = 1; forever != 0;) {
  }
}
