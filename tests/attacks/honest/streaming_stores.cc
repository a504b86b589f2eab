// assay: {entry: streaming_stores, dtype: f32, layout: tt, args: [a, b, out, m, n, k]}
// Writes its output past the caches, where it is aligned.
#include <cstdint>
#include <immintrin.h>
#include <vector>

#include "honest.h"

KERNEL(streaming_stores) {
  std::vector<float> row(static_cast<size_t>(n));
  for (long i = 0; i < m; ++i) {
    right(a + i * k, b, row.data(), 1, n, k);
    long j = 0;
    const bool aligned = reinterpret_cast<uintptr_t>(out + i * n) % 16 == 0;
    for (; aligned && j + 4 <= n; j += 4)
      _mm_stream_ps(out + i * n + j, _mm_loadu_ps(row.data() + j));
    for (; j < n; ++j) out[i * n + j] = row[static_cast<size_t>(j)];
  }
  _mm_sfence();
}
