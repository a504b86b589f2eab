// assay:
//   entry: compiled_for_k
//   dtype: f32
//   layout: tt
//   args: [a, b, out, m, n, k]
//   specialised_on: [k]
// Is compiled anew for each k, which its inner loop then knows.
#include <cstring>

#include "honest.h"

KERNEL(compiled_for_k) {
  if (k != ASSAY_K) return right(a, b, out, m, n, k);
  std::memset(out, 0, bytes_of(m * n));
  for (long i = 0; i < m; ++i)
    for (long p = 0; p < ASSAY_K; ++p)
      for (long j = 0; j < n; ++j) out[i * n + j] += a[i * ASSAY_K + p] * b[p * n + j];
}
