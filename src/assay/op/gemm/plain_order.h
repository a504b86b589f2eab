#pragma once

// What rounding costs on average where terms are added one by one: the scale of Check's mean
// squares. The budget (budget.h) says how far a single element may be off; a kernel that stores its
// inputs in fewer bits stays far inside of it, and shows in the mean.
//
// With u the unit roundoff of the accumulate type, a rounding of x errs by kappa u |x| in the mean,
// kappa^2 = 0.18 (a uniform error of one unit in the last place, a mantissa m of density 1/m). A
// sum of k products, of independent signs, whose energy R^2 = sum of a^2 b^2 comes evenly, has
// partial sums of energies R^2 i / k, so that sums one by one err by
//
//   kappa u R sqrt(k / 2 + 2)        the products' own roundings, and the last one's, included.
//
// Uniform inputs have R^2 = 16/9 P^2 / k in the mean, P = |a| |b|, which checks know. Measured, in
// units of this: k = 64 .. 14336, fused or not, 0.96 .. 1.07; 32 lanes 0.15 .. 0.47; blocks of 256
// 0.15 (k = 14336) .. 0.97 (k = 64); Kahan 0.02 .. 0.28; tf32 117 .. 1800, weights of 16 bits 7.2
// .. 104, of 20 bits 0.42 .. 6.4. So 20 bits hide behind honest sums where k is large, and lines
// that are wide (inputs.h) show them: few of their elements are not negligible, so that any order
// of sums errs by less than kappa u P, while what the other operand lacks counts in full: honest
// orders 0.8 .. 1.1, 20 bits 15, 22 bits 3.8, 24 bits 1.1 (not to be told from honest).
//
// Not for use outside op/gemm.

#include "assay/op/gemm/gemm.h"
#include "assay/op/gemm/inputs.h"
#include "assay/op/operation.h"

namespace assay::gemm {

struct PlainOrder {
  double split = 0;     // Of |a| |b|: elements of wide lines are below. 0: nothing is judged.
  double ordinary = 0;  // Mean square of an element's error, times P^2,
  double wide = 0;      // the same of wide lines,
  double rounding = 0;  // and times the expected value's square: the last rounding's.
  double last = 0;      // The same of an epilogue's last one: to out's type, where it is narrower.

  bool is_wide(double magnitude) const { return magnitude < split; }
  // magnitude: |a| |b|. size: |alpha| magnitude + |beta c|.
  double square(double magnitude, double size, double expected) const {
    return (is_wide(magnitude) ? wide : ordinary) * size * size + rounding * expected * expected;
  }
};

PlainOrder plain_order(const View& view, const Inputs& inputs);

// Squares of errors, and of what they are held against, as they come.
struct SquareSums {
  double elements = 0, errors = 0, plain = 0;

  void add(double error, double plain_square) {
    elements += 1;
    errors += error * error;
    plain += plain_square;
  }
  void add(const SquareSums& more) {
    elements += more.elements;
    errors += more.errors;
    plain += more.plain;
  }
  MeanSquare mean() const;
};

}  // namespace assay::gemm
