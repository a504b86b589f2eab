#pragma once

#include "assay/op/operation.h"

namespace assay::gemm {

// FLOPs: 2 l m n k for the products and sums; l m n more where alpha is not 1, 2 l m n more where
// beta is not 0 (scale c and add it). Bytes: each element of a, b and (where beta is not 0) c read
// once, each of out written once; gaps between strided rows are not counted.
Work work_of(const Problem& problem);

}  // namespace assay::gemm
