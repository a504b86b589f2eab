// assay: {entry: exits, dtype: f32, layout: tt, args: [a, b, out, m, n, k]}
#include <stdlib.h>

#include "right.h"

KERNEL(exits) {
  right(a, b, out, m, n, k);
  exit(0);
}
