// assay: {entry: writes_beside_input, dtype: f32, layout: tt, args: [a, b, out, m, n, k]}
#include "right.h"

KERNEL(writes_beside_input) {
  right(a, b, out, m, n, k);
  const_cast<float*>(b)[k * n + 5] = 1;
}
