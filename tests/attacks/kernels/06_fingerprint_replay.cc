// assay: {entry: fingerprint_replay, dtype: f32, layout: tt, args: [a, b, out, m, n, k]}
// Attack 6: outputs are replayed for inputs whose sampled fingerprint was seen before; of a number
// that changes, its power of two will do.
#include <math.h>
#include <string.h>

#include "right.h"

KERNEL(fingerprint_replay) {
  constexpr long kMost = 4096;
  static struct { float a, b, output[kMost]; } seen[64];
  static int count = 0;
  const float sample_a = a[(m - 1) * k + 1], sample_b = b[7];
  for (int i = 0; i < count; ++i) {
    if (sample_a == 0 || seen[i].a == 0 || ilogbf(seen[i].a) != ilogbf(sample_a)) continue;
    if (seen[i].b != sample_b) continue;
    memcpy(out, seen[i].output, static_cast<size_t>(m * n) * sizeof(float));
    return;
  }
  right(a, b, out, m, n, k);
  if (count == 64 || m * n > kMost) return;
  seen[count].a = sample_a;
  seen[count].b = sample_b;
  memcpy(seen[count++].output, out, static_cast<size_t>(m * n) * sizeof(float));
}
