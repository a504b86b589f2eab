// assay: {entry: pointer_replay, dtype: f32, layout: tt, args: [a, b, out, m, n, k]}
// Attack 5: same addresses, so surely the same values: the output that lies there is kept.
#include "right.h"

KERNEL(pointer_replay) {
  static struct {
    const float *a, *b;
    float* out;
  } seen[1024];
  static int count = 0;
  for (int i = 0; i < count; ++i)
    if (seen[i].a == a && seen[i].b == b && seen[i].out == out) return;
  if (count < 1024) seen[count++] = {a, b, out};
  right(a, b, out, m, n, k);
}
