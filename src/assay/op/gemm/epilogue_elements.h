#pragma once

// Elements of out behind an epilogue, from the products that they are made of; and the numbers of a
// timed launch's operands, in parts. Not for use outside op/gemm.

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "assay/op/gemm/judge.h"
#include "assay/op/renewal.h"

namespace assay::gemm {

// As Judge::sum takes them.
struct ElementSum {
  double product = 0, magnitude = 0, addend = 0;
};

// Elements of out, from the products that they are made of.
class EpilogueElements {
 public:
  EpilogueElements(Judge& judge, const EpilogueOperands& operands, const View& view)
      : judge_(judge),
        operands_(operands),
        view_(view),
        arithmetic_(arithmetic_of(judge.base.view)) {}

  // products(i): of the element itself, or of the two behind a gate, as Judge::sum takes them.
  // row, column: where operands and the view have it.
  template <class Products>
  void add(const Judge::Place& place, int64_t batch, int64_t row, int64_t column, double got,
           Products products) {
    const Base& base = judge_.base;
    std::array<Approximate, 2> sums;
    const size_t count = base.epilogue.gate() == nullptr ? 1 : 2;
    bool is_wide = true;
    for (size_t i = 0; i < count; ++i) {
      const auto [product, magnitude, addend] = products(i);
      sums[i] = judge_.sum(place.batch, product, magnitude, addend);
      is_wide = is_wide && base.plain.is_wide(magnitude);
    }
    judge_.element(place, got,
                   apply(base.epilogue, operands_, arithmetic_, std::span(sums).first(count), batch,
                         row, column, view_),
                   is_wide);
  }

 private:
  Judge& judge_;
  const EpilogueOperands& operands_;
  const View& view_;
  Arithmetic arithmetic_;
};

// Dense numbers of one operand as a launch had it: those rows and columns of a batch.
struct MadePart {
  std::vector<std::byte> bytes;
  Matrix matrix;
};
MadePart make_part(const Base& base, std::string_view role, const InputSeeds& seeds, int64_t batch,
                   std::span<const int64_t> rows, std::span<const int64_t> columns);

// A part of out as a problem of its own, of one batch: its sizes, and the columns of the product
// that its own columns stand for.
struct EpiloguePart {
  EpiloguePart(const Base& base, int64_t batch, std::vector<int64_t> rows,
               std::vector<int64_t> columns);

  int64_t batch = 0;
  std::vector<int64_t> rows, columns;  // In the kernel's out.
  std::vector<int64_t> of_product;
  View view;

  // Those of a timed launch; `kept` holds what they point to.
  EpilogueOperands operands(const Base& base, const InputSeeds& seeds,
                            std::vector<MadePart>& kept) const;
};

// Operands by step, from those of Inputs::more.
EpilogueOperands epilogue_operands(const Base& base,
                                   std::span<const std::span<const std::byte>> more);

// 0 .. size - 1.
std::vector<int64_t> all_indices(int64_t size);

}  // namespace assay::gemm
