#pragma once

// Fresh activations for timed launches: Operation::vary of gemm. Each line of a along k is turned
// round by some number of elements, and the signs of its elements by those of elsewhere in it:
// new numbers of the same kind, whose product nobody has worked out before. (A factor for each
// row, which was here first, a kernel can find and apply to a product that it has kept.) Where a is
// constant and b is not, b; where both are, nothing varies. -128, which has no negative, never
// stands in the operand that varies. For inputs of the kind `uniform`: others would become what
// their names do not say. Not for use outside op/gemm.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "assay/op/gemm/tiles.h"
#include "assay/op/turned_lines.h"

namespace assay::gemm {

// 0 for a, 1 for b, the number of operands for none.
size_t varied_operand_of(const Problem& problem);

// seed 0 copies. k^3 variations: those of a tiny k come again.
void vary_operand(const Problem& problem, uint64_t seed, std::span<const std::byte> pristine,
                  std::span<std::byte> destination);

// The same, said.
std::vector<TurnedLines> turned_lines(const Problem& problem, uint64_t seed);

}  // namespace assay::gemm
