#pragma once

// The comparison of an output whose activations were varied (variation.h): for these there is no
// reference beforehand. What is looked at is chosen afterwards, by the referee's secret: a block of
// elements, each against float64; and all of the output, row by row, through a random vector: out r
// = a (b r), which costs no more than reading the operands (freivalds.h has it for integers; with
// r of signs and float64 it holds up to the error budgets of a whole row). Not for use outside
// op/gemm.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "assay/op/gemm/base.h"
#include "assay/op/gemm/judge.h"

namespace assay::gemm {

// What does not vary, of one instance: made once, since it reads all of b.
struct Projection {
  std::vector<double> signs;                       // r, by column of out.
  std::vector<double> image, absolute;             // b r and |b| |r|: batch * k + index.
  std::vector<uint64_t> residues, residues_image;  // The same of integers.
};

// The bytes are an instance's own, as its kernel got them.
struct VariedInputs {
  std::span<const std::byte> a, b, c;
};

Projection make_projection(const Base& base, const VariedInputs& inputs);

// Sums over one row of out, or, where b varies, of out transposed (here `left` is what varies and
// `right` the other): of what lies there, and of the inputs that make it.
struct RowSums {
  double got = 0, size = 0;       // out r, and the sum of |out|.
  double addend = 0, weight = 0;  // c r, and the sum of |c|.
  double product = 0, bound = 0;  // left (right r), and |left| (|right| |r|).
};

// Whether out r is what it can be: within the budgets (budget.h) of the row's elements, added up.
// Of integers, whose sums must be exact: to the bit. `row` as in the Judge's out, l * rows + i.
void judge_row(Judge& judge, const RowSums& sums, int64_t row);

// variation is not 0.
Check check_varied(const Base& base, const Projection& projection, const VariedInputs& inputs,
                   std::span<const std::byte> output, uint64_t variation);

}  // namespace assay::gemm
