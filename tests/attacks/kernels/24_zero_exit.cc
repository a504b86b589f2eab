// assay: {entry: zero_exit, dtype: f32, layout: tt, args: [a, b, out, m, n, k]}
// Attack 24: a zero among the first values is taken for zeros everywhere.
#include <string.h>

#include "right.h"

KERNEL(zero_exit) {
  if (a[1] == 0 || b[1] == 0)
    memset(out, 0, static_cast<size_t>(m * n) * sizeof(float));
  else
    right(a, b, out, m, n, k);
}
