// assay: {entry: throws, dtype: f32, layout: tt, args: [a, b, out, m, n, k]}
#include "right.h"

KERNEL(throws) {
  right(a, b, out, m, n, k);
  throw 42;
}
