#include "assay/op/gemm/tiles.h"

#include <algorithm>
#include <cstring>

namespace assay::gemm {
namespace {

// Strided elements to contiguous ones, without looking at what they mean.
template <size_t kBytes>
void gather_bytes(const Matrix& matrix, int64_t batch, int64_t row, Range columns, std::byte* out) {
  const std::byte* from = matrix.at(batch, row, 0);
  const int64_t step = matrix.column_stride * static_cast<int64_t>(kBytes);
  for (int64_t j = 0; j < columns.count; ++j)
    std::memcpy(out + j * static_cast<int64_t>(kBytes), from + columns[j] * step, kBytes);
}

void gather(const Matrix& matrix, int64_t batch, int64_t row, Range columns, std::byte* out) {
  switch (size_bytes(matrix.dtype)) {
    case 1:
      return gather_bytes<1>(matrix, batch, row, columns, out);
    case 2:
      return gather_bytes<2>(matrix, batch, row, columns, out);
    case 4:
      return gather_bytes<4>(matrix, batch, row, columns, out);
    default:
      return gather_bytes<8>(matrix, batch, row, columns, out);
  }
}

// A column that lies in one piece, read or written through a buffer.
constexpr int64_t kBuffer = 1024;

}  // namespace

Matrix with_data(Matrix matrix, std::span<const std::byte> bytes) {
  matrix.data = const_cast<std::byte*>(bytes.data());
  return matrix;
}

void load_tile(const Matrix& matrix, int64_t batch, Range rows, Range columns, double* tile) {
  const int64_t width = columns.count;
  if (matrix.column_stride == 1 && columns.list == nullptr) {
    for (int64_t i = 0; i < rows.count; ++i)
      convert_to_double(matrix.dtype, matrix.at(batch, rows[i], columns.first), width,
                        tile + i * width);
    return;
  }
  if (matrix.row_stride == 1 && rows.list == nullptr) {
    double column[kBuffer];
    for (int64_t from = 0; from < rows.count; from += kBuffer) {
      const int64_t count = std::min(kBuffer, rows.count - from);
      for (int64_t j = 0; j < width; ++j) {
        convert_to_double(matrix.dtype, matrix.at(batch, rows[from], columns[j]), count, column);
        for (int64_t i = 0; i < count; ++i) tile[(from + i) * width + j] = column[i];
      }
    }
    return;
  }
  std::byte elements[kBuffer * 8];
  for (int64_t i = 0; i < rows.count; ++i) {
    for (int64_t from = 0; from < width; from += kBuffer) {
      const int64_t count = std::min(kBuffer, width - from);
      gather(matrix, batch, rows[i], columns.part(from, count), elements);
      convert_to_double(matrix.dtype, elements, count, tile + i * width + from);
    }
  }
}

void store_tile(const Matrix& matrix, int64_t batch, Range rows, Range columns,
                const double* tile) {
  const int64_t width = columns.count;
  if (matrix.column_stride == 1) {
    for (int64_t i = 0; i < rows.count; ++i)
      convert_from_double(matrix.dtype, tile + i * width, width,
                          matrix.at(batch, rows[i], columns.first));
    return;
  }
  if (matrix.row_stride == 1 && rows.count <= kBuffer) {
    double column[kBuffer];
    for (int64_t j = 0; j < width; ++j) {
      for (int64_t i = 0; i < rows.count; ++i) column[i] = tile[i * width + j];
      convert_from_double(matrix.dtype, column, rows.count,
                          matrix.at(batch, rows.first, columns[j]));
    }
    return;
  }
  for (int64_t i = 0; i < rows.count; ++i)
    for (int64_t j = 0; j < width; ++j)
      store_from_double(matrix.dtype, tile[i * width + j], matrix.at(batch, rows[i], columns[j]));
}

}  // namespace assay::gemm
