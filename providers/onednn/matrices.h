#pragma once

// A problem's operands as oneDNN takes them: out is row-major, so a column-major one is computed as
// out^T = b^T a^T.

#include "assay/kernel/refusals.h"
#include "assay/op/gemm/matrix.h"

namespace assay::onednn {

struct Matrices {
  gemm::Matrix a, b, out;
  bool swapped = false;  // a is the problem's b, transposed, and the other way round.
};

Matrices matrices_of(const gemm::View& view);

// One sentence for each operand that is neither row- nor column-major.
void check_strides(const Matrices& matrices, Refusals& refusals);

}  // namespace assay::onednn
