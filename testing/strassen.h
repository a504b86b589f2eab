#pragma once

// Matrix multiplication after Strassen (Gaussian Elimination is not Optimal, Numerische Mathematik
// 13, 1969) in f32 throughout: seven products of quarters in the place of eight, level by level.
// Errors are bounded by norms of whole operands alone, since sums mix rows and columns.

#include <vector>

namespace strassen {

struct Matrix {
  long rows = 0, columns = 0;
  std::vector<float> values = {};

  static Matrix of(long rows, long columns) {
    return {rows, columns, std::vector<float>(static_cast<unsigned long>(rows * columns))};
  }
  float& at(long i, long j) { return values[static_cast<unsigned long>(i * columns + j)]; }
  float at(long i, long j) const { return values[static_cast<unsigned long>(i * columns + j)]; }
};

// With zeros behind it, up to a multiple of `step` on both sides.
inline Matrix padded(const float* from, long rows, long columns, long step) {
  Matrix to = Matrix::of((rows + step - 1) / step * step, (columns + step - 1) / step * step);
  for (long i = 0; i < rows; ++i)
    for (long j = 0; j < columns; ++j) to.at(i, j) = from[i * columns + j];
  return to;
}

inline Matrix quarter(const Matrix& of, long down, long aside) {
  Matrix to = Matrix::of(of.rows / 2, of.columns / 2);
  for (long i = 0; i < to.rows; ++i)
    for (long j = 0; j < to.columns; ++j)
      to.at(i, j) = of.at(i + down * to.rows, j + aside * to.columns);
  return to;
}

inline Matrix sum(Matrix x, const Matrix& y, float sign = 1) {
  for (unsigned long i = 0; i < x.values.size(); ++i) x.values[i] += sign * y.values[i];
  return x;
}

inline Matrix product(const Matrix& a, const Matrix& b, int levels) {
  Matrix out = Matrix::of(a.rows, b.columns);
  if (levels == 0) {
    for (long i = 0; i < a.rows; ++i)
      for (long p = 0; p < a.columns; ++p)
        for (long j = 0; j < b.columns; ++j) out.at(i, j) += a.at(i, p) * b.at(p, j);
    return out;
  }
  const Matrix a11 = quarter(a, 0, 0), a12 = quarter(a, 0, 1), a21 = quarter(a, 1, 0),
               a22 = quarter(a, 1, 1), b11 = quarter(b, 0, 0), b12 = quarter(b, 0, 1),
               b21 = quarter(b, 1, 0), b22 = quarter(b, 1, 1);
  const int less = levels - 1;
  const Matrix m1 = product(sum(a11, a22), sum(b11, b22), less),
               m2 = product(sum(a21, a22), b11, less), m3 = product(a11, sum(b12, b22, -1), less),
               m4 = product(a22, sum(b21, b11, -1), less), m5 = product(sum(a11, a12), b22, less),
               m6 = product(sum(a21, a11, -1), sum(b11, b12), less),
               m7 = product(sum(a12, a22, -1), sum(b21, b22), less);
  for (long i = 0; i < m1.rows; ++i) {
    for (long j = 0; j < m1.columns; ++j) {
      out.at(i, j) = m1.at(i, j) + m4.at(i, j) - m5.at(i, j) + m7.at(i, j);
      out.at(i, j + m1.columns) = m3.at(i, j) + m5.at(i, j);
      out.at(i + m1.rows, j) = m2.at(i, j) + m4.at(i, j);
      out.at(i + m1.rows, j + m1.columns) = m1.at(i, j) - m2.at(i, j) + m3.at(i, j) + m6.at(i, j);
    }
  }
  return out;
}

// Row-major out = a * b, of any sizes.
inline void multiply(const float* a, const float* b, float* out, long m, long n, long k,
                     int levels) {
  const long step = 1L << levels;
  const Matrix made = product(padded(a, m, k, step), padded(b, k, n, step), levels);
  for (long i = 0; i < m; ++i)
    for (long j = 0; j < n; ++j) out[i * n + j] = made.at(i, j);
}

}  // namespace strassen
