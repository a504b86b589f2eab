#pragma once

// How large random inputs may be, so that sums of products stay within the accumulate type and
// out's. Not for use outside op/gemm.

#include <cstdint>

#include "assay/op/gemm/gemm.h"

namespace assay::gemm {

// Largest power of two, at most 1, that brings `bound` below `limit`.
double scale_to(double bound, double limit);

struct Ranges {
  explicit Ranges(const View& view);

  bool integers;  // Out is one, and so is everything.
  double factor;  // |alpha|, at least 1.
  double limit;   // What |alpha| times a sum of products may reach.

  // Of uniform values: what multiplies those of a, and of c, in [-1, 1). Those of b stay.
  double scale_a() const;
  double scale_c() const;
  // Largest m <= 127 with k products of up to m^2 within s32: elements are within [-m, m], and if
  // m is 127 within [-128, 127], so of up to 128^2.
  int64_t most_integer() const;

 private:
  double k_, beta_;
};

}  // namespace assay::gemm
