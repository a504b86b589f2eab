#pragma once

// Operands as a BLAS describes them: one leading dimension, and whether rows or columns are stored
// one after another.

#include <cstdint>
#include <optional>

namespace assay::openblas {

struct Matrix {
  int64_t rows = 0, columns = 0, row_stride = 0, column_stride = 0;

  // The leading dimension if rows (by_rows) or columns lie contiguous; nothing where they do not,
  // overlap, or lie too far apart for a 32-bit integer. Strides of single rows, columns and
  // elements mean nothing, so any will do.
  std::optional<int> leading(bool by_rows) const;
  bool stored_somehow() const { return leading(true) || leading(false); }
};

}  // namespace assay::openblas
