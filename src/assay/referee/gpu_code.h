#pragma once

// The referee's device code: float64 products, and comparisons of whole outputs with them. PTX, as
// all of ours (process/gpu/code.h).

#include <cstdint>
#include <string>

namespace assay::sweep {

// Operands lie in panels of kPanel lines each (rows of a, columns of b; zeros where there are no
// more). The elements of a panel's lines with one index of k lie together; there are zeros up to a
// multiple of kDepthStep indices.
inline constexpr int64_t kPanel = 64, kDepthStep = 16;
inline constexpr uint32_t kMultiplyThreads = 256;

// Parameters are of 8 bytes but for element codes, which have 4. Strides in bytes.
//
// assay_widen(from, to, lines, depth, padded depth, line stride, depth stride, elements of to,
// code)
//   Float64 panels of a strided matrix.
// assay_multiply(a, b, product, magnitude, rows, columns, padded depth)
//   a x b and |a| x |b| of panels, dense row by row. Grid: panels of b, panels of a.
// assay_compare(out, code, row stride, column stride, c or 0, code, row stride, column stride,
//               product, magnitude, tally, rows, columns, alpha, beta, exact step or 0, growth,
//               rounding, underflow, min_normal, split or 0, plain, last)
//   What Calculator::compare says, added to a Tally.
std::string referee_code(const std::string& target);

struct Tally {
  uint64_t wrong = 0, first = ~uint64_t{0};  // first: row * columns + column.
  double largest_error = 0, sum_of_errors = 0, largest_unit = 0;
  double squared = 0, squared_errors = 0, plain_squares = 0;
};

}  // namespace assay::sweep
