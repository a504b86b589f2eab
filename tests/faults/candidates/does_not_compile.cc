// assay: {entry: does_not_compile, dtype: f32, layout: tt, args: [a, b, out, m, n, k]}
#include "right.h"

KERNEL(does_not_compile) { right(a, b, out, m, n, k, and_more); }
