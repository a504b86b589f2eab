#pragma once

// Whether a kernel that is right in every element is wrong in the mean: it stores or multiplies in
// fewer bits than it says.

#include <optional>
#include <string>
#include <vector>

#include "assay/record/outcome.h"

namespace assay {

// The median of what the proven stock kernels of a problem err by. No elements: there are none.
struct StockErrors {
  RmsError ordinary, wide;
};
StockErrors stock_errors(const std::vector<const KernelOutcome*>& kernels);

// Errors are in units of a plain order of sums in the declared accumulate type (op/operation.h:
// MeanSquare), so 1 is what such sums have. More than kMostOrdinary or kMostWide is coarse, by more
// than chance has it for so many elements, unless it is at most four times what stock kernels have:
// tensor cores cut off where others round, and a sum that is cut off at each of k / 16 steps has
// 5.7 of these units at k = 4096, whoever wrote it. That is why nothing is said of a card's kernels
// without a stock kernel that was proven beside them. Measured units: op/gemm/plain_order.h.
inline constexpr double kMostOrdinary = 1.25, kMostWide = 3, kMostOfStock = 4;

// The sentence that says so.
std::optional<std::string> coarse_arithmetic(const ProofSummary& proof, const StockErrors& stock,
                                             bool on_card);

}  // namespace assay
