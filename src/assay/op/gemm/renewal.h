#pragma once

// Operation::renewal of gemm: uniform numbers, as those of InputKind::uniform, wide lines among
// them (lines.h). Where neither a nor b is constant, all of a is new at each launch, and of b some
// signs: b may be large, and with a new no product is an old one's. Not for use outside op/gemm.

#include "assay/op/gemm/gemm.h"
#include "assay/op/renewal.h"

namespace assay::gemm {

// operand: one that is an input. Problems of other operations get one that writes nothing.
Renewal renewal_of(const Problem& problem, size_t operand, const InputSeeds& seeds);

}  // namespace assay::gemm
