// assay: {entry: function_table, dtype: f32, layout: tt, args: [a, b, out, m, n, k]}
// Calls through a table of functions, filled at the first launch.
#include "honest.h"

namespace {
using Row = void (*)(const float*, const float*, float*, long, long, long);
void by_rows(const float* a, const float* b, float* out, long m, long n, long k) {
  right(a, b, out, m, n, k);
}
void by_elements(const float* a, const float* b, float* out, long m, long n, long k) {
  for (long i = 0; i < m; ++i)
    for (long j = 0; j < n; ++j) {
      float sum = 0;
      for (long p = 0; p < k; ++p) sum += a[i * k + p] * b[p * n + j];
      out[i * n + j] = sum;
    }
}
Row table[2] = {};
}  // namespace

KERNEL(function_table) {
  if (table[0] == nullptr) table[0] = by_rows, table[1] = by_elements;
  for (long i = 0; i < m; ++i) table[i % 2](a + i * k, b, out + i * n, 1, n, k);
}
