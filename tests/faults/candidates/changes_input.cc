// assay: {entry: changes_input, dtype: f32, layout: tt, args: [a, b, out, m, n, k]}
#include "right.h"

KERNEL(changes_input) {
  right(a, b, out, m, n, k);
  const_cast<float*>(a)[3] += 1;
}
