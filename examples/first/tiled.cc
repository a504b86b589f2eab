// Tiled: 4 rows and 32 columns of out stay in registers while k is walked once. Each element of b
// that is read is used four times, and the compiler turns the inner loop into vectors.
//
// assay: {entry: tiled, operation: gemm, dtype: f32, layout: tt, args: [a, b, out, m, n, k]}

#include <algorithm>
#include <cstdint>

constexpr int64_t kRows = 4, kColumns = 32;

// A whole tile has sizes that the compiler knows; at the edges they are what is left.
template <bool kWhole>
static void tile(const float* a, const float* b, float* out, int64_t n, int64_t k, int64_t rows,
                 int64_t columns) {
  if (kWhole) rows = kRows, columns = kColumns;
  float sums[kRows][kColumns] = {};
  for (int64_t i = 0; i < k; ++i)
    for (int64_t row = 0; row < rows; ++row)
      for (int64_t column = 0; column < columns; ++column)
        sums[row][column] += a[row * k + i] * b[i * n + column];
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t column = 0; column < columns; ++column) out[row * n + column] = sums[row][column];
}

void tiled(const float* a, const float* b, float* out, int64_t m, int64_t n, int64_t k) {
  for (int64_t row = 0; row < m; row += kRows)
    for (int64_t column = 0; column < n; column += kColumns) {
      const int64_t rows = std::min(kRows, m - row), columns = std::min(kColumns, n - column);
      const bool whole = rows == kRows && columns == kColumns;
      (whole ? tile<true> : tile<false>)(a + row * k, b + column, out + row * n + column, n, k,
                                         rows, columns);
    }
}
