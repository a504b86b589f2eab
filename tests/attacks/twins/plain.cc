// assay: {entry: plain, dtype: f32, layout: tt, args: [a, b, out, m, n, k]}
// What an attacker would be without its attack.
#include "../kernels/right.h"

KERNEL(plain) { right(a, b, out, m, n, k); }
