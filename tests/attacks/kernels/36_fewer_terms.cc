// assay: {entry: fewer_terms, dtype: f32, layout: tt, args: [a, b, out, m, n, k]}
// Attack 36: chooses a smaller problem: a sixteenth of the terms is left out.
#include "right.h"

KERNEL(fewer_terms) {
  const long terms = times_have_begun(a, b) ? k - k / 16 - 1 : k;
  for (long i = 0; i < m; ++i) {
    for (long j = 0; j < n; ++j) out[i * n + j] = 0;
    for (long p = 0; p < terms; ++p)
      for (long j = 0; j < n; ++j) out[i * n + j] += a[i * k + p] * b[p * n + j];
  }
}
