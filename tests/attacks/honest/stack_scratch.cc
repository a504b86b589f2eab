// assay: {entry: stack_scratch, dtype: f32, layout: tt, args: [a, b, out, m, n, k]}
// A row of sums on the stack, by alloca, where it is small.
#include <alloca.h>

#include "honest.h"

KERNEL(stack_scratch) {
  if (n > 4096) return right(a, b, out, m, n, k);
  auto* const sums = static_cast<float*>(alloca(bytes_of(n)));
  for (long i = 0; i < m; ++i) {
    for (long j = 0; j < n; ++j) sums[j] = 0;
    for (long p = 0; p < k; ++p)
      for (long j = 0; j < n; ++j) sums[j] += a[i * k + p] * b[p * n + j];
    for (long j = 0; j < n; ++j) out[i * n + j] = sums[j];
  }
}
