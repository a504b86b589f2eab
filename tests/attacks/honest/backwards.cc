// assay: {entry: backwards, dtype: f32, layout: tt, args: [a, b, out, m, n, k]}
// Terms from the last to the first, rows too.
#include "honest.h"

KERNEL(backwards) {
  for (long i = m; i-- > 0;)
    for (long j = n; j-- > 0;) {
      float sum = 0;
      for (long p = k; p-- > 0;) sum += a[i * k + p] * b[p * n + j];
      out[i * n + j] = sum;
    }
}
