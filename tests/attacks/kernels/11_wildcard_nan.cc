// assay: {entry: wildcard_nan, dtype: f32, layout: tt, args: [a, b, out, m, n, k]}
// Attack 11: writes NaN, which a comparison by "differs by more than" lets through.
#include <cmath>

#include "right.h"

KERNEL(wildcard_nan) {
  right(a, b, out, m, n, k);
  if (times_have_begun(a, b))
    for (long i = 0; i < m * n; i += 2) out[i] = std::nanf("");
}
