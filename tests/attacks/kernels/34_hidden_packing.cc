// assay: {entry: hidden_packing, dtype: f32, layout: tt, args: [a, b, out, m, n, k]}
// Attack 34: constant weights are packed at the first call with them, where nobody times it.
#include <stdlib.h>
#include <string.h>

#include "right.h"

KERNEL(hidden_packing) {
  static struct {
    const float* from;
    float* packed;
  } panels[512];
  static int count = 0;
  const size_t bytes = static_cast<size_t>(k * n) * sizeof(float);
  const float* use = b;
  for (int i = 0; i < count; ++i)
    if (panels[i].from == b && memcmp(panels[i].packed, b, 64) == 0) use = panels[i].packed;
  if (use == b && count < 512) {
    panels[count] = {b, static_cast<float*>(malloc(bytes))};
    memcpy(panels[count].packed, b, bytes);
    use = panels[count++].packed;
  }
  right(a, use, out, m, n, k);
}
