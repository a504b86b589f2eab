// assay: {entry: strassen, dtype: f32, layout: tt, args: [a, b, out, m, n, k]}
// Seven products of quarters in the place of eight, after Strassen. His sums mix rows, so that
// errors are those of the largest row: it has them in f64, and leaves numbers that are not near 1
// to the plain way.
#include <cmath>
#include <vector>

#include "honest.h"

namespace {
using Matrix = std::vector<double>;  // Of known sizes, row-major.

bool is_tame(const float* values, long count) {
  for (long i = 0; i < count; ++i)
    if (!(std::fabs(values[i]) <= 16)) return false;
  return true;
}

// One quarter, with zeros where an odd matrix ends.
Matrix quarter(const float* from, long rows, long columns, long down, long right_half) {
  const long height = (rows + 1) / 2, width = (columns + 1) / 2;
  Matrix to(static_cast<size_t>(height * width), 0.0);
  for (long i = down * height; i < rows && i < (down + 1) * height; ++i)
    for (long j = right_half * width; j < columns && j < (right_half + 1) * width; ++j)
      to[static_cast<size_t>((i - down * height) * width + j - right_half * width)] =
          from[i * columns + j];
  return to;
}

Matrix sum(const Matrix& x, const Matrix& y, double sign = 1) {
  Matrix to(x);
  for (size_t i = 0; i < to.size(); ++i) to[i] += sign * y[i];
  return to;
}

Matrix product(const Matrix& x, const Matrix& y, long m, long n, long k) {
  Matrix to(static_cast<size_t>(m * n), 0.0);
  for (long i = 0; i < m; ++i)
    for (long p = 0; p < k; ++p)
      for (long j = 0; j < n; ++j)
        to[static_cast<size_t>(i * n + j)] +=
            x[static_cast<size_t>(i * k + p)] * y[static_cast<size_t>(p * n + j)];
  return to;
}
}  // namespace

KERNEL(strassen) {
  if (!is_tame(a, m * k) || !is_tame(b, k * n)) return right(a, b, out, m, n, k);
  const long rows = (m + 1) / 2, columns = (n + 1) / 2, depth = (k + 1) / 2;
  Matrix x[2][2], y[2][2];
  for (long down : {0, 1})
    for (long aside : {0, 1}) {
      x[down][aside] = quarter(a, m, k, down, aside);
      y[down][aside] = quarter(b, k, n, down, aside);
    }
  const auto times = [&](const Matrix& left, const Matrix& right_side) {
    return product(left, right_side, rows, columns, depth);
  };
  const Matrix m1 = times(sum(x[0][0], x[1][1]), sum(y[0][0], y[1][1]));
  const Matrix m2 = times(sum(x[1][0], x[1][1]), y[0][0]);
  const Matrix m3 = times(x[0][0], sum(y[0][1], y[1][1], -1));
  const Matrix m4 = times(x[1][1], sum(y[1][0], y[0][0], -1));
  const Matrix m5 = times(sum(x[0][0], x[0][1]), y[1][1]);
  const Matrix m6 = times(sum(x[1][0], x[0][0], -1), sum(y[0][0], y[0][1]));
  const Matrix m7 = times(sum(x[0][1], x[1][1], -1), sum(y[1][0], y[1][1]));
  const Matrix parts[2][2] = {{sum(sum(sum(m1, m4), m5, -1), m7), sum(m3, m5)},
                              {sum(m2, m4), sum(sum(sum(m1, m2, -1), m3), m6)}};
  for (long i = 0; i < m; ++i)
    for (long j = 0; j < n; ++j)
      out[i * n + j] = static_cast<float>(
          parts[i / rows][j / columns][static_cast<size_t>(i % rows * columns + j % columns)]);
}
