#pragma once

// How far a right kernel may be from the exact result, element by element, and row by row.
//
// With u the unit roundoff of the accumulate type (half its epsilon), v = mean(x^2) + epsilon and
// e = x w / sqrt(v):
//
//   The sum of squares. Each term goes through at most n roundings in any order of summation, fused
//   or not (its product, n - 1 sums); 1 / n or a division through two, epsilon as the kernel holds
//   it through one, and the sum with it through one. All terms are positive: nothing cancels, and
//   the relative error of v is at most theta = min(gamma_N, gamma~_N), N = n + 4. These two are
//   those of op/gemm/budget.h (Higham 2002, section 3.1; Higham and Mary 2019, theorem 3.1, with
//   lambda = 10). Squares below the smallest normal number may be flushed: theta grows by
//   min_normal / v.
//   The root. 1 / sqrt(v (1 - theta)) differs from 1 / sqrt(v) by (1 - theta)^(-1/2) - 1, about
//   theta / 2; taking it costs 4 u (a root and a division 2 u, CUDA's rsqrtf 2 units in the last
//   place, which are 4 u).
//   The two products, in any order: 2 u.
//
//   |computed - e| <= growth |e|,   growth = (1 - theta)^(-1/2) (1 + gamma_6) - 1
//
// With a residual, x stands for x + residual, which costs one more rounding: each square goes
// through two more, and e through one. What is written back is that sum, rounded once in the
// accumulate type and once to residual's. Kernels normalise the sum as it is or as it was written
// back, and either is right.
//
// Then, where out is narrower, roundings to its type: two, since models' own definitions round
// x / sqrt(v) to the type of out before they multiply by w. Results below the smallest normal
// number of out may be flushed to zero, and so may the first of the two products. With float64 sums
// the reference is no better than what it checks, so growth is doubled.
//
// A narrow out hides what a root is wrong by: 2^-8 of bf16 is much more than sums in f16 lose. But
// all of a row has the same root, while roundings to out's type are independent, of mean zero: of
// inputs that are random,
//
//   |sum of (computed - e) e| <= growth sum e^2 + lambda last sqrt(sum e^4)
//
// with probability above 1 - 2 exp(-lambda^2 / 2) (Hoeffding 1963, theorem 2), `last` the unit
// roundoff of out. The row as a whole is held against that. Elements of the same |x| and |w| are
// rounded alike: of 2^(p - 1) mantissas each, p the significand's bits, sum e^4 has no less than
// its part of (sum e^2)^2. Of two roundings the first is alike wherever |x| is, which is no small
// part of a row: there e is what that rounding makes of it, and one mantissa may be rounded the
// other way.

#include "assay/op/rmsnorm/rmsnorm.h"

namespace assay::rmsnorm {

inline constexpr double kLambda = 10;

struct Budget {
  double sums = 0;         // theta, but for flushed squares.
  double products = 0;     // gamma_6.
  double factor = 1;       // On growth.
  double last = 0;         // Unit roundoff of out; 0 where it is not narrower.
  double written = 0;      // The same of residual.
  double alike = 0;        // Part of all elements that are rounded alike,
  double x_alike = 0;      // and of those of the same |x|.
  double min_normal = 0;   // Of out: below it results may be flushed.
  double written_min = 0;  // The same of residual.
  double unit = 0;         // Unit roundoff of the accumulate type.
  double flushed = 0;      // The same of the accumulate type.

  double rounding() const { return 2 * last; }
  // growth of a row of this v.
  double growth(double v) const;
  // Largest right |computed - e|, where w and root = 1 / sqrt(v); always above 0.
  double allowed(double growth, double e, double w, double root) const;
  // Of what is written back, where that is `sum`.
  double allowed_sum(double sum) const;
  // Mean square of what a row's root is off by in units of `last` and `written`, which kernels that
  // take the sum as it is for the one and as it was written for the other both have.
  double roundings() const { return last * last + written * written; }
};

Budget budget_of(const View& view);

// Mean square of the relative error of a row's root where its squares are added one by one, in the
// accumulate type: kappa^2 u^2 (n / 8 + 16), kappa^2 = 0.18 (op/gemm/plain_order.h). Partial sums
// grow evenly, so that a sum's squares of errors are n / 3 of these and a root's n / 12; half more,
// since rows alike have their last sums at one place of a binade. 16 are for the mean, the root and
// the products. It is the unit of Check::ordinary_lines. Measured there, 200 rows: one by one 0.45
// (n = 16), 0.9 (1000), 1.0 (8192); 8 lanes 0.44, 0.19, 0.12; x in bf16 for a sum in f32, 19
// (1000) and 16 (8192).
double plain_square(const View& view);

}  // namespace assay::rmsnorm
