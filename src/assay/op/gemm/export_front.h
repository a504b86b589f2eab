#pragma once

// What an exported kernel's caller is told of a GEMM. Not for use outside op/gemm.

#include <string>
#include <vector>

#include "assay/op/export_front.h"

namespace assay::gemm {

std::string formula_of(const Problem& problem);
Result<std::vector<ReferenceFile>> reference_files(const Problem& problem, ErrorBound bound);

}  // namespace assay::gemm
