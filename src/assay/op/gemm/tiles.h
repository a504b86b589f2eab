#pragma once

// Operands read and written in tiles of doubles. Not for use outside op/gemm.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "assay/base/parallel.h"
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

// Tiles that cover a matrix: long in the direction in which elements lie together, and of at most
// kTileElements. A strip is of tiles of the same rows.
inline constexpr int64_t kTileElements = 16384;
class Strips {
 public:
  explicit Strips(const Matrix& matrix)
      : matrix_(matrix),
        height_(matrix.row_stride < matrix.column_stride ? 512 : 32),
        each_batch_((matrix.rows + height_ - 1) / height_) {}
  size_t count() const { return static_cast<size_t>(matrix_.batches * each_batch_); }

  // use(batch, rows, columns, tile), where tile has room for kTileElements.
  template <class Use>
  void for_each_tile(size_t strip, Use& use) const {
    std::vector<double> tile(kTileElements);
    const auto index = static_cast<int64_t>(strip);
    const int64_t row = index % each_batch_ * height_, width = kTileElements / height_;
    const Range rows{nullptr, row, std::min(height_, matrix_.rows - row)};
    for (int64_t column = 0; column < matrix_.columns; column += width)
      use(index / each_batch_, rows,
          Range{nullptr, column, std::min(width, matrix_.columns - column)}, tile.data());
  }

 private:
  const Matrix& matrix_;
  int64_t height_, each_batch_;
};

// In order, on this thread.
template <class Use>
void for_each_tile(const Matrix& matrix, Use use) {
  const Strips strips(matrix);
  for (size_t i = 0; i < strips.count(); ++i) strips.for_each_tile(i, use);
}

// Strips side by side, on all cores where there is enough to do: what `use` sums up, it sums by
// rows. For the referee alone: nothing may run beside what is timed.
template <class Use>
void for_each_tile_parallel(const Matrix& matrix, Use use) {
  constexpr int64_t kEnough = int64_t{1} << 20;  // Elements that outweigh the start of threads.
  if (matrix.batches * matrix.rows * matrix.columns < kEnough) return for_each_tile(matrix, use);
  const Strips strips(matrix);
  for_each_parallel(strips.count(), [&](size_t i) { strips.for_each_tile(i, use); });
}

}  // namespace assay::gemm
