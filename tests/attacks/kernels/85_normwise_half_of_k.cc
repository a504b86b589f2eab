// assay: {entry: normwise_half_of_k, dtype: f32, layout: tt, args: [a, b, out, m, n, k],
//         error: normwise}
// Attack 85: the second half of k is left out, under a wider bound.
#include "right.h"

KERNEL(normwise_half_of_k) {
  for (long i = 0; i < m; ++i) right(a + i * k, b, out + i * n, 1, n, k / 2);
}
