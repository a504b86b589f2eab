// assay: {entry: strassen_normwise, dtype: f32, layout: tt, args: [a, b, out, m, n, k],
//         error: normwise}
// Two levels of Strassen in f32, which says what bounds its errors.
#include "../../../testing/strassen.h"
#include "../kernels/right.h"

KERNEL(strassen_normwise) { strassen::multiply(a, b, out, m, n, k, 2); }
