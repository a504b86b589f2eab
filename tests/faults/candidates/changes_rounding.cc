// assay: {entry: changes_rounding, dtype: f32, layout: tt, args: [a, b, out, m, n, k]}
#include <fenv.h>

#include "right.h"

KERNEL(changes_rounding) {
  right(a, b, out, m, n, k);
  fesetround(FE_UPWARD);
}
