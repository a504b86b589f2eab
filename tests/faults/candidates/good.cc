// assay: {entry: good, dtype: f32, layout: tt, args: [a, b, out, m, n, k]}
#include "right.h"

KERNEL(good) { right(a, b, out, m, n, k); }
