#pragma once

// The table of `assay compare`: TFLOP/s, speed-up, verdict; then claims and what is amiss.

#include <span>
#include <string>

#include "assay/compare/comparison.h"
#include "assay/compare/recompute.h"
#include "assay/report/table.h"

namespace assay::report {

std::string compare_text(const Comparison& comparison, const TextStyle& style = {});
std::string compare_markdown(const Comparison& comparison);
// One row per problem and competitor, numbers in full.
std::string compare_csv(const Comparison& comparison);

// `assay compare --recompute`: one line per difference, or the line that there is none.
std::string recompute_text(const std::string& record_path, std::span<const Difference> differences,
                           const TextStyle& style = {});

}  // namespace assay::report
