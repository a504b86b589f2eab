#pragma once

// Lines along k of uniform floating inputs: rows of a or, where a is constant and b is not, columns
// of b. Most have all their elements in [-1, 1). A few are wide: of their elements some are of
// magnitude 1, and the others, dense and with all bits of their type, small beside the accumulate
// type's roundings, so that magnitudes span more than 2^40 where the type's range allows it. A
// kernel that does less for inputs which look uniform meets both kinds in every launch. Where there
// is one line alone, one in 64 of its elements is small: were it wide, most of the other operand
// could be left unread. Not for use outside op/gemm.

#include <cstdint>

#include "assay/op/gemm/gemm.h"

namespace assay::gemm {

// Whether lines are columns of out: what is looked at line by line is then out's transpose.
bool looks_along_columns(const Problem& problem);

struct LinePlan {
  bool of_b = false;
  int64_t lines = 0;
  int64_t counting = 1;     // Elements of a wide line that are not small.
  int high = 0, low = 0;    // Small ones are of magnitude 2^low to 2^high.
  bool quiet = false;       // They are negligible in the accumulate type.
  double scale = 1;         // What multiplies the lines' operand; the other one is in [-1, 1).
  double mean_product = 0;  // Of |a| |b| of ordinary lines.

  bool has_wide() const { return lines > 1; }
  static constexpr int64_t kLinesForEach = 256;  // Wide line.
  static constexpr int64_t kForEachSmall = 64;   // Elements of a line that is alone.
};

// Of floating inputs.
LinePlan plan_lines(const Problem& problem, const View& view);

}  // namespace assay::gemm
