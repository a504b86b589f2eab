#pragma once

// Numbers that are known up to an error, through the steps of an epilogue. It includes nothing of
// assay: an exported kernel's caller is given this file as it stands, and so judges by it.

#include <algorithm>
#include <cmath>
#include <limits>

namespace assay::gemm {

// A number, how far a right kernel's may be from it, and the square of what rounding makes of it in
// the mean (plain_order.h).
struct Approximate {
  double value = 0;
  double error = 0;
  double square = 0;
  bool exact = false;  // Integers in any order of sums: error is 0.
  // Of a NaN comparisons, and of an infinity functions, make what they like: any result will do.
  bool open = false;
};

enum class Function { gelu, gelu_tanh, silu };

// What is known of the arithmetic of an accumulate type.
struct Arithmetic {
  double unit = 0;    // The unit roundoff; twice that if the reference is no better.
  double square = 0;  // Of one rounding, in the mean: times the value's square.

  Approximate sum(const Approximate& x, const Approximate& y) const;
  Approximate product(const Approximate& x, const Approximate& y) const;
  Approximate clamp(Approximate x, double low, double high) const;
  Approximate relu(const Approximate& x) const {
    return clamp(x, 0, std::numeric_limits<double>::infinity());
  }
  Approximate function(const Approximate& x, Function which) const;

 private:
  Approximate rounded(Approximate y) const;
};

// f(x), and the slope there.
struct Point {
  double value = 0, slope = 0;
};

// Without cancellation.
inline double phi(double x) { return std::erfc(-x / std::sqrt(2.0)) / 2; }
inline double sigmoid(double x) {
  return x >= 0 ? 1 / (1 + std::exp(-x)) : std::exp(x) / (1 + std::exp(x));
}

inline Point gelu(double x) {
  const double density = std::exp(-x * x / 2) / std::sqrt(2 * std::acos(-1.0));
  return {x * phi(x), phi(x) + x * density};
}

// 1 + tanh(y) = 2 / (1 + exp(-2 y)).
inline Point gelu_tanh(double x) {
  constexpr double kFactor = 0.79788456080286535588, kCube = 0.044715;  // sqrt(2 / pi).
  const double inner = kFactor * (x + kCube * x * x * x);
  const double share = sigmoid(2 * inner);
  const double slope = kFactor * (1 + 3 * kCube * x * x);
  return {x * share, share + 2 * x * share * (1 - share) * slope};
}

inline Point silu(double x) {
  const double share = sigmoid(x);
  return {x * share, share + x * share * (1 - share)};
}

inline Point at(Function which, double x) {
  return which == Function::gelu ? gelu(x) : which == Function::gelu_tanh ? gelu_tanh(x) : silu(x);
}

// Largest slopes: of gelu at sqrt(2), 1 / 2 + erf(1) / 2 + exp(-1) / sqrt(pi) = 1.1289; gelu_tanh
// 1.1290; silu at 2.3994, 1.0998.
inline double most_slope(Function which) { return which == Function::silu ? 1.1 : 1.13; }

// NaN and the infinities are what they are.
inline Approximate without_error(Approximate x) {
  x.error = x.square = 0;
  return x;
}

// Of a result in the accumulate type.
inline Approximate Arithmetic::rounded(Approximate y) const {
  if (y.exact) return y;
  if (!std::isfinite(y.value)) return without_error(y);
  y.error += unit * (std::fabs(y.value) + y.error);
  y.square += square * y.value * y.value;
  return y;
}

inline Approximate Arithmetic::sum(const Approximate& x, const Approximate& y) const {
  return rounded({.value = x.value + y.value,
                  .error = x.error + y.error,
                  .square = x.square + y.square,
                  .exact = x.exact && y.exact,
                  .open = x.open || y.open});
}

inline Approximate Arithmetic::product(const Approximate& x, const Approximate& y) const {
  // Beside an infinity, what may be zero or of either sign says nothing.
  const auto unknown = [](const Approximate& one, const Approximate& other) {
    return std::isinf(one.value) && other.error > 0 && std::fabs(other.value) <= other.error;
  };
  return rounded({.value = x.value * y.value,
                  .error = std::fabs(x.value) * y.error + x.error * (std::fabs(y.value) + y.error),
                  .square = x.value * x.value * y.square + y.value * y.value * x.square,
                  .exact = x.exact && y.exact,
                  .open = x.open || y.open || unknown(x, y) || unknown(y, x)});
}

// Kernels make of NaN what they like: a comparison with it is false.
inline Approximate Arithmetic::clamp(Approximate x, double low, double high) const {
  x.open = x.open || std::isnan(x.value);
  const bool beyond = x.value <= low || x.value >= high;
  if (x.value + x.error <= low || x.value - x.error >= high) x.error = 0;
  x.value = std::min(std::max(x.value, low), high);
  if (!beyond) return x;
  // The bound itself, in the accumulate type.
  x.square = 0;
  if (!std::isfinite(x.value)) return without_error(x);
  x.exact = x.exact && x.value == std::nearbyint(x.value);
  if (!x.exact) x.error += unit * std::fabs(x.value);
  return x;
}

inline Approximate Arithmetic::function(const Approximate& x, Function which) const {
  // How far a function's value may be off, in unit roundoffs of its argument: polynomials for erf
  // of a few units, of which x / 2 (1 + erf) keeps nothing if x is far below zero.
  constexpr double kUnits = 16;
  // Beyond kBent functions have the values of their limits in float32, and below kFlat next to
  // nothing is left of them in any type.
  constexpr double kBent = 8, kFlat = -40;
  // Less than this is nothing: exp(-x) ends at 2^127 in float32, or before.
  constexpr double kNothing = 0x1p-100;
  // In the mean, of the functions that libraries bring (measured: 0.3 to 1.6 in float32).
  constexpr double kMean = 2;
  // Each of them is x times a share. That of an infinity is made as the kernel is written: x - x /
  // y and 0 times -infinity are NaN.
  Approximate y{.value = x.value, .open = x.open || std::isinf(x.value)};
  if (!std::isfinite(x.value)) return y;
  const Point point = at(which, x.value);
  y.value = point.value;
  y.error = kNothing;
  if (x.value + x.error < kFlat)
    y.error += kUnits * unit * (std::fabs(point.value) + x.error);
  else
    y.error += most_slope(which) * x.error +
               unit * (kUnits * std::min(std::fabs(x.value), kBent) + 2 * std::fabs(x.value));
  y.square = point.slope * point.slope * x.square + kMean * kMean * square * x.value * x.value;
  return y;
}

}  // namespace assay::gemm
