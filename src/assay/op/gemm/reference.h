#pragma once

// Products in float64, fast enough to check every element of mid-sized outputs. Not for use outside
// op/gemm.

#include <cstdint>

#include "assay/base/vector_unit.h"
#include "assay/op/gemm/tiles.h"

namespace assay::gemm {

// product[i * columns.count + j] = sum over k of a(rows[i], k) * b(k, columns[j]) of one batch, and
// the same of absolute values in `magnitude`, unless that is null. Sums run over k in order, in
// blocks; where products and sums fit 53 bits they are exact. NaN and infinities propagate.
void multiply(const Matrix& a, const Matrix& b, int64_t batch, Range rows, Range columns,
              double* product, double* magnitude, VectorUnit unit = VectorUnit::best);

}  // namespace assay::gemm
