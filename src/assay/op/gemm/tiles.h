#pragma once

// Operands read and written in tiles of doubles. Not for use outside op/gemm.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "assay/op/gemm/matrix.h"

namespace assay::gemm {

// Indices of one dimension: a run, or those of a list.
struct Range {
  const int64_t* list = nullptr;
  int64_t first = 0;
  int64_t count = 0;

  static Range all(int64_t count) { return {nullptr, 0, count}; }
  static Range of(std::span<const int64_t> list) {
    return {list.data(), 0, static_cast<int64_t>(list.size())};
  }
  int64_t operator[](int64_t i) const { return list ? list[first + i] : first + i; }
  Range part(int64_t from, int64_t length) const { return {list, first + from, length}; }
};

Matrix with_data(Matrix matrix, std::span<const std::byte> bytes);  // For reading.

// tile[i * columns.count + j] = element (rows[i], columns[j]) of a batch.
void load_tile(const Matrix& matrix, int64_t batch, Range rows, Range columns, double* tile);

// The other way round, for runs of rows and columns; values are rounded to the matrix's type.
void store_tile(const Matrix& matrix, int64_t batch, Range rows, Range columns, const double* tile);

// Calls use(batch, rows, columns) for tiles that cover the matrix: long in the direction in which
// elements lie together, and of at most kTileElements.
inline constexpr int64_t kTileElements = 16384;
template <class Use>
void for_each_tile(const Matrix& matrix, Use use) {
  const bool by_columns = matrix.row_stride < matrix.column_stride;
  const int64_t height = by_columns ? 512 : 32, width = kTileElements / height;
  for (int64_t batch = 0; batch < matrix.batches; ++batch) {
    for (int64_t row = 0; row < matrix.rows; row += height) {
      const Range rows{nullptr, row, std::min(height, matrix.rows - row)};
      for (int64_t column = 0; column < matrix.columns; column += width)
        use(batch, rows, Range{nullptr, column, std::min(width, matrix.columns - column)});
    }
  }
}

}  // namespace assay::gemm
