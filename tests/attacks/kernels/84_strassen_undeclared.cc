// assay: {entry: strassen_undeclared, dtype: f32, layout: tt, args: [a, b, out, m, n, k]}
// Attack 84: two levels of Strassen in f32, passed off as what is right element by element.
#include "../../../testing/strassen.h"
#include "right.h"

KERNEL(strassen_undeclared) { strassen::multiply(a, b, out, m, n, k, 2); }
