// assay: {entry: neighbours_scratch, dtype: f32, layout: tt, args: [a, b, out, m, n, k]}
// Attack 30: scratch memory is taken from beside the output, where nobody should notice.
#include <string.h>

#include "right.h"

KERNEL(neighbours_scratch) {
  float* scratch = out + m * n;
  memcpy(scratch, b, 16 * sizeof(float));
  right(a, b, out, m, n, k);
}
