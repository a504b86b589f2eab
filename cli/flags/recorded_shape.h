#pragma once

// Problems of a record by the words that `--shape` takes, besides their names.

#include <string_view>
#include <vector>

#include "assay/record/record.h"

namespace assay::cli {

// `text` is the name of one problem, or a shape (m=8,n=4096,k=4096,dtype=f16): then all problems
// that have every field which it names. What it leaves out may be anything: a race took it from the
// kernel's file. Empty where there is none, and where `text` is no shape.
std::vector<const ProblemRecord*> find_shape(const RunRecord& record, std::string_view text);

}  // namespace assay::cli
