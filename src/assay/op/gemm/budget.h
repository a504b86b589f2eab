#pragma once

// How far a right kernel may be from the exact result, element by element.
//
// With u the unit roundoff of the accumulate type (half its epsilon), P = |alpha| |a| |b| +
// |beta| |c| taken for this element (absolute values inside the sums), and N the roundings that any
// term goes through in any order of summation, fused or not (k; two more where alpha is not 1,
// which a kernel may itself hold in the accumulate type; three more where there is a c):
//
//   |computed - exact| <= growth * P,   growth = min(gamma_N, gamma~_N)
//   gamma_N  = N u / (1 - N u)                       Higham, Accuracy and Stability of Numerical
//                                                    Algorithms, 2nd ed., 2002, section 3.1: always
//   gamma~_N = exp(lambda sqrt(N) u + N u^2 / (1-u)) - 1   Higham and Mary, A New Approach to
//                                                    Probabilistic Rounding Error Analysis, SIAM J.
//                                                    Sci. Comput. 41(5), 2019, theorem 3.1
//
// The second holds with probability above 1 - 2 N exp(-lambda^2 (1-u)^2 / 2) where rounding errors
// are independent of mean zero; lambda = 10 makes that 1 - 4e-22 N for an element. It is what lets
// a float32 kernel that rounds its inputs to bf16 fail at large k: at k = 4096 it allows 640 u
// where the first allows 4096 u. Right kernels with k above 30 use under 2 % of it. A narrower type
// of inputs costs about 2^-p |a||b| / sqrt(k) on random inputs, which this bound sees up to k of
// about 2700 (tf32) or 22000 (bf16); kinds `exact` and `cancellation` see it at any k.
//
// Then one rounding to the type of out, where that is narrower. Results below the smallest normal
// number of out may be flushed to zero. With float64 accumulation the reference is no better than
// what it checks, so growth is doubled.

#include <cstdint>

#include "assay/op/gemm/gemm.h"

namespace assay::gemm {

inline constexpr double kLambda = 10;

struct Budget {
  double growth = 0;    // Times P.
  double rounding = 0;  // Unit roundoff of out where it is narrower than the sums, else 0.
  // Absolute: sums of subnormal steps, and the last rounding's; normwise, all of the sums'
  // (budgets.h).
  double underflow = 0;
  double min_normal = 0;  // Of out: below it results may be flushed.
};

// more: roundings beside N that a term goes through in the kernels that are judged.
Budget budget_of(const View& view, int more = 0);

// Largest right |computed - exact| of an element; always above 0.
inline double allowed(const Budget& budget, double exact, double magnitude) {
  const double size = exact < 0 ? -exact : exact;
  const double sums = budget.growth * magnitude + budget.underflow;
  const double flushed = size < budget.min_normal ? budget.min_normal : 0;
  return sums + budget.rounding * (size + sums) + flushed;
}

// The same of what an epilogue makes of sums, if `error` is how far its steps may have got away:
// one rounding to out's type, and no results below its smallest normal number.
double allowed_last(const Budget& budget, const View& view, double exact, double error);

}  // namespace assay::gemm
