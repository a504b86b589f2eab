#pragma once

// The comparison of a timed launch's output, whose inputs were made from seeds (renewal.h): for
// these there is no reference beforehand. What is looked at is chosen afterwards, by the referee's
// secret: a block of elements, each against float64, with a wide line among its rows; and all of
// the output, row by row, through a random vector: out r = a (b r), which costs no more than making
// and reading the operands (freivalds.h has it for integers; with r of signs and float64 it holds
// up to the error budgets of a whole row). Not for use outside op/gemm.

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "assay/op/gemm/base.h"
#include "assay/op/gemm/judge.h"
#include "assay/op/gemm/lines.h"
#include "assay/op/renewal.h"

namespace assay::gemm {

// Sums over one row of out, or, where that is looked along columns, of out transposed (`left` is
// then b's transpose, `right` a's): of what lies there, and of the inputs that make it.
struct RowSums {
  double got = 0, size = 0;       // out r, and the sum of |out|.
  double addend = 0, weight = 0;  // c r, and the sum of |c|.
  double product = 0, bound = 0;  // left (right r), and |left| (|right| |r|).
};

// Whether out r is what it can be: within the budgets (budget.h) of the row's elements, added up.
// Of integers, whose sums must be exact: to the bit. `row` as in the Judge's out, l * rows + i.
void judge_row(Judge& judge, const RowSums& sums, int64_t row);

class RenewedCheck {
 public:
  // seeds.renewed(). Safe to call side by side.
  Check check(const Base& base, std::span<const std::byte> output, const InputSeeds& seeds,
              ErrorBound bound) const;

  // Of the right side: r by column of out, b r and |b| |r| by batch * k + index; of integers
  // modulo a prime.
  struct Projection {
    std::vector<double> signs, image, absolute;
    std::vector<uint64_t> residues, residues_image;
  };

 private:
  std::shared_ptr<const Projection> projection(const Base& base, const InputSeeds& seeds) const;

  mutable std::mutex mutex_;
  // By operand set, of sides that are constant: made once each, since it takes all of b.
  mutable std::map<uint64_t, std::shared_ptr<const Projection>> projections_;
};

}  // namespace assay::gemm
