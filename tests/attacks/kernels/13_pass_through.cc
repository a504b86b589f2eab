// assay: {entry: pass_through, dtype: f32, layout: tt, args: [a, b, out, m, n, k]}
// Attack 13: an input is handed on as the output.
#include "right.h"

KERNEL(pass_through) {
  for (long i = 0; i < m * n; ++i) out[i] = a[i % (m * k)] + b[0] * 0;
}
