#pragma once

// What a check saw of errors in the mean, which no single element shows, added to a proof.

#include "assay/op/operation.h"
#include "assay/record/record.h"

namespace assay::sweep {

inline void add_line_errors(ProofSummary& proof, const Check& check) {
  proof.ordinary_lines.add(check.ordinary_lines.elements, check.ordinary_lines.sum);
  proof.wide_lines.add(check.wide_lines.elements, check.wide_lines.sum);
}

}  // namespace assay::sweep
