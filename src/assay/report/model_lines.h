#pragma once

// The weighted time of a model, and which of its problems it goes into.

#include <string>
#include <vector>

#include "assay/record/record.h"
#include "assay/report/table.h"

namespace assay::report {

// "model: 8B, m 16: default 127 us, best stock 123, best 120": one line for each m, none where the
// problems are no model's.
std::vector<std::string> model_lines(const RunRecord& record);

// The same for a terminal, each below a table of its problems: time of a call, calls, their time,
// its share. A run that is of no model has no table, and one without weights no line either.
std::string model_text(const RunRecord& record, const TextStyle& style);

}  // namespace assay::report
