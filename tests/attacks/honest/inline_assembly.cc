// assay: {entry: inline_assembly, dtype: f32, layout: tt, args: [a, b, out, m, n, k]}
// Multiplies and adds in assembly of its own.
#include "honest.h"

KERNEL(inline_assembly) {
  for (long i = 0; i < m; ++i)
    for (long j = 0; j < n; ++j) {
      float sum = 0;
      for (long p = 0; p < k; ++p) {
        float term = a[i * k + p];
        asm("mulss %2, %1\n\taddss %1, %0" : "+x"(sum), "+x"(term) : "x"(b[p * n + j]));
      }
      out[i * n + j] = sum;
    }
}
