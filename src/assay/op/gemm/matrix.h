#pragma once

// Operands as matrices: how they lie in memory, as a BLAS and its like describe them, and where
// they stand in a problem.

#include <cstddef>
#include <cstdint>
#include <optional>

#include "assay/op/gemm/gemm.h"

namespace assay::gemm {

// One operand of a problem. Strides in elements; the bytes belong to somebody else.
struct Matrix {
  std::byte* data = nullptr;
  DType dtype = DType::f32;
  int64_t batches = 1, rows = 0, columns = 0;
  int64_t batch_stride = 0, row_stride = 0, column_stride = 0;

  std::byte* at(int64_t batch, int64_t row, int64_t column) const {
    return data +
           (batch * batch_stride + row * row_stride + column * column_stride) * size_bytes(dtype);
  }

  // The leading dimension if rows (by_rows) or columns lie contiguous; nothing where they do not,
  // or overlap. Strides of single rows, columns and elements mean nothing, so any will do.
  std::optional<int64_t> leading(bool by_rows) const;
  bool has_leading() const { return leading(true) || leading(false); }

  Matrix transposed() const;

  // The same, with the strides that a dense or padded matrix of that kind would have: a library may
  // look at strides that mean nothing. Unchanged where neither rows nor columns are contiguous.
  Matrix plain() const;
};

// How a problem's operands lie; data is null.
Matrix matrix_a(const View& view);
Matrix matrix_b(const View& view);
Matrix matrix_c(const View& view);
Matrix matrix_out(const View& view);
Matrix matrix_of(const Operand& operand);  // Of three dimensions.

// Where the operands stand in a problem, and so in a step's data (kernel/plan.h), and what stands
// behind them there.
struct Places {
  size_t a = 0, b = 0, out = 0, c = 0;
  bool has_c = false;  // c is 0 without.
  size_t workspace = 0, prepared = 0;
};
Places places_of(const Problem& problem);

// out = c for one batch: before a call that adds to what is there.
void copy_c(const View& view, const void* c, void* out, int64_t batch);

}  // namespace assay::gemm
