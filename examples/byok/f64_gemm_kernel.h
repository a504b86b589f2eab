#pragma once

// The implementation: a GEMM in double precision that knows nothing of assay. One "thread" of a
// block computes one element of the output; it is simple, not fast.

#include <cstdint>

namespace byok {

struct Tile {
  int m = 32, n = 32;  // A block computes this many rows and columns of the output.
};

// A (batch, rows, columns) view; strides count elements.
struct Matrices {
  double* data;
  int64_t batch_stride, row_stride, column_stride;

  double& at(int64_t l, int64_t row, int64_t column) const {
    return data[l * batch_stride + row * row_stride + column * column_stride];
  }
};

struct Sizes {
  int64_t l, m, n, k;
};

// out = a x b for each of l matrices: a is (l, m, k), b (l, k, n), out (l, m, n).
void f64_gemm(const Tile& tile, const Sizes& sizes, const Matrices& a, const Matrices& b,
              const Matrices& out);

}  // namespace byok
