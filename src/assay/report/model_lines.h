#pragma once

// The weighted time of a model, as a table of its GEMMs ends with it.

#include <string>
#include <vector>

#include "assay/record/record.h"

namespace assay::report {

// "model: 8B, m 16: default 127 us, best stock 123, best 120": one line for each m, none where the
// problems are no model's.
std::vector<std::string> model_lines(const RunRecord& record);

}  // namespace assay::report
