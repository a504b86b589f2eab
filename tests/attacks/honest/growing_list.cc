// assay: {entry: growing_list, dtype: f32, layout: tt, args: [a, b, out, m, n, k]}
// Memory that is allocated, grown and given back in many small pieces.
#include <cstdlib>

#include "honest.h"

KERNEL(growing_list) {
  for (long i = 0; i < m; ++i) {
    float* row = nullptr;
    for (long j = 0; j < n; ++j) {
      if (j % 8 == 0) {
        void* const more = std::realloc(row, bytes_of(j + 8));
        if (more == nullptr) return std::free(row);
        row = static_cast<float*>(more);
      }
      row[j] = 0;
      for (long p = 0; p < k; ++p) row[j] += a[i * k + p] * b[p * n + j];
    }
    for (long j = 0; j < n; ++j) out[i * n + j] = row[j];
    std::free(row);
  }
}
