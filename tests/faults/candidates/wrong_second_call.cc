// assay: {entry: wrong_second_call, dtype: f32, layout: tt, args: [a, b, out, m, n, k]}
#include "right.h"

KERNEL(wrong_second_call) {
  right(a, b, out, m, n, k);
  static int calls = 0;
  if (++calls == 2) out[7] += 1;
}
