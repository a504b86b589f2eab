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
// 5.7 of these units at k = 4096, whoever wrote it. That is why nothing is said of a GPU's kernels
// without a stock kernel that was proven beside them. Cores round: there it is kMostOfStockOnCores.
// Of an output in 16 bits the last rounding alone makes 1, and four times that would hide sums that
// are kept in 16 bits from one part of k to the next. Measured units: op/gemm/plain_order.h.
//
// A kernel that promises normwise errors is judged on ordinary lines alone: on a wide one its
// errors are as large as those of the lines that it is mixed with. Up to three levels of Strassen
// in f32 have 1.5, 2.1 and 3.0 of these units at k = 512 and 4096, a fourth 4.0 to 4.6; weights of
// 16 bits 38, 13 and 7.2 at k = 512, 4096 and 14336.
inline constexpr double kMostOrdinary = 1.25, kMostWide = 3, kMostOfStock = 4;
inline constexpr double kMostOfStockOnCores = 1.25, kMostOrdinaryNormwise = 4;

// The sentence that says so, by the bound that the proof was judged by.
std::optional<std::string> coarse_arithmetic(const ProofSummary& proof, const StockErrors& stock,
                                             bool on_gpu);

// What a mismatch says of a kernel that promised nothing, and is right by the normwise bound.
std::string normwise_advice();

}  // namespace assay
