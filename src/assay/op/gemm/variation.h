#pragma once

// Fresh activations for timed launches, with a known effect: Operation::vary of gemm. Each row of a
// is multiplied by a sign and a power of two 1, 2, 4 or 8, so that row of a x b is multiplied
// alike, exactly: inputs leave room for it, see inputs.h. Where a is constant and b is not, each
// column of b; where both are, nothing varies. Integers change sign only, and -128, which has no
// negative, never stands in the operand that varies. Not for use outside op/gemm.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "assay/op/gemm/tiles.h"

namespace assay::gemm {

// 0 for a, 1 for b, the number of operands for none.
size_t varied_operand_of(const Problem& problem);

// Factors of rows of a (columns of b): batch * count + index. seed 0: all 1.
std::vector<double> variation_factors(const View& view, int64_t count, uint64_t seed);

void vary_operand(const Problem& problem, uint64_t seed, std::span<const std::byte> pristine,
                  std::span<std::byte> destination);

}  // namespace assay::gemm
