// assay: {entry: precision_downgrade, dtype: f32, layout: tt, args: [a, b, out, m, n, k]}
// Attack 27: f32 by name, bfloat16 inside.
#include <string.h>

#include "right.h"

namespace {
float narrow(float value) {
  unsigned bits;
  memcpy(&bits, &value, sizeof bits);
  bits = (bits + 0x8000u) & 0xffff0000u;
  memcpy(&value, &bits, sizeof bits);
  return value;
}
}  // namespace

KERNEL(precision_downgrade) {
  for (long i = 0; i < m; ++i)
    for (long j = 0; j < n; ++j) {
      float sum = 0;
      for (long p = 0; p < k; ++p) sum += narrow(a[i * k + p]) * narrow(b[p * n + j]);
      out[i * n + j] = sum;
    }
}
