// assay: {entry: outer_products, dtype: f32, layout: tt, args: [a, b, out, m, n, k]}
// Zeroes its output, and adds one outer product after another: every element is written k times.
#include <cstring>

#include "honest.h"

KERNEL(outer_products) {
  std::memset(out, 0, bytes_of(m * n));
  for (long p = 0; p < k; ++p)
    for (long i = 0; i < m; ++i)
      for (long j = 0; j < n; ++j) out[i * n + j] += a[i * k + p] * b[p * n + j];
}
