#pragma once

// A problem's operands as oneDNN takes them: out is row-major, so a column-major one is computed as
// out^T = b^T a^T.

#include <array>
#include <cstdint>
#include <optional>

#include "assay/kernel/refusals.h"
#include "assay/op/gemm/gemm.h"

namespace assay::onednn {

struct Matrix {
  int64_t batch = 1, rows = 0, columns = 0;
  int64_t batch_stride = 0, row_stride = 0, column_stride = 0;
  DType dtype = DType::f32;

  // The distance of rows (or columns) if they lie contiguous. Strides of single rows, columns and
  // elements mean nothing, so any will do.
  std::optional<int64_t> leading(bool by_rows) const;
  Matrix transposed() const;

  // The same, with the strides that a dense or padded matrix of that kind would have: oneDNN
  // recognises its fast cases by them. Only where leading() says that it is one.
  Matrix plain() const;
};

struct Matrices {
  Matrix a, b, out;
  bool swapped = false;  // a is the problem's b, transposed, and the other way round.
};

Matrices matrices_of(const gemm::View& view);

// One sentence for each operand that is neither row- nor column-major.
void check_strides(const Matrices& matrices, Refusals& refusals);

}  // namespace assay::onednn
