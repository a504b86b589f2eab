// assay: {entry: includes_without_end, dtype: f32, layout: tt, args: [a, b, out, m, n, k]}
// The compiler would read for ever.
#include "/dev/zero"
#include "right.h"

KERNEL(includes_without_end) { right(a, b, out, m, n, k); }
