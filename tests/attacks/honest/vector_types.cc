// assay: {entry: vector_types, dtype: f32, layout: tt, args: [a, b, out, m, n, k]}
// Vectors as the compiler's own types.
#include <cstring>

#include "honest.h"

KERNEL(vector_types) {
  using Four = float __attribute__((vector_size(16)));
  for (long i = 0; i < m; ++i) {
    long j = 0;
    for (; j + 4 <= n; j += 4) {
      Four sums = {};
      for (long p = 0; p < k; ++p) {
        Four columns;
        std::memcpy(&columns, b + p * n + j, sizeof columns);
        sums += a[i * k + p] * columns;
      }
      std::memcpy(out + i * n + j, &sums, sizeof sums);
    }
    for (; j < n; ++j) {
      out[i * n + j] = 0;
      for (long p = 0; p < k; ++p) out[i * n + j] += a[i * k + p] * b[p * n + j];
    }
  }
}
