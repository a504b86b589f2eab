// assay: {entry: cache_oblivious, dtype: f32, layout: tt, args: [a, b, out, m, n, k]}
// Halves the longest side until little is left.
#include "honest.h"

namespace {
struct Part {
  const float *a, *b;
  float* out;
  long k, n;  // Of the whole: lengths of its rows.
  void add(long i, long rows, long j, long columns, long p, long depth) const {
    if (rows >= columns && rows >= depth && rows > 8) {
      add(i, rows / 2, j, columns, p, depth);
      return add(i + rows / 2, rows - rows / 2, j, columns, p, depth);
    }
    if (columns >= depth && columns > 8) {
      add(i, rows, j, columns / 2, p, depth);
      return add(i, rows, j + columns / 2, columns - columns / 2, p, depth);
    }
    if (depth > 8) {
      add(i, rows, j, columns, p, depth / 2);
      return add(i, rows, j, columns, p + depth / 2, depth - depth / 2);
    }
    for (long row = i; row < i + rows; ++row)
      for (long term = p; term < p + depth; ++term)
        for (long column = j; column < j + columns; ++column)
          out[row * n + column] += a[row * k + term] * b[term * n + column];
  }
};
}  // namespace

KERNEL(cache_oblivious) {
  for (long i = 0; i < m * n; ++i) out[i] = 0;
  Part{a, b, out, k, n}.add(0, m, 0, n, 0, k);
}
