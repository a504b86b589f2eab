// assay: {entry: wrong_third_call, dtype: f32, layout: tt, args: [a, b, out, m, n, k]}
#include "right.h"

KERNEL(wrong_third_call) {
  right(a, b, out, m, n, k);
  static int calls = 0;
  if (++calls == 3) out[7] += 1;
}
