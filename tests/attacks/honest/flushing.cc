// assay: {entry: flushing, dtype: f32, layout: tt, args: [a, b, out, m, n, k]}
// Flushes its own scratch from the caches, to leave room for others.
#include <immintrin.h>
#include <vector>

#include "honest.h"

KERNEL(flushing) {
  std::vector<float> columns(static_cast<size_t>(n * k));
  transpose(b, columns.data(), n, k);
  by_columns(a, columns.data(), out, m, n, k);
  for (size_t at = 0; at < columns.size(); at += 16) _mm_clflush(&columns[at]);
  _mm_mfence();
}
