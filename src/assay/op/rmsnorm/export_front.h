#pragma once

// What an exported kernel's caller is told of an rmsnorm. Not for use outside op/rmsnorm.

#include <string>
#include <vector>

#include "assay/op/export_front.h"

namespace assay::rmsnorm {

std::string formula_of(const Problem& problem);
Result<std::vector<ReferenceFile>> reference_files(const Problem& problem);

}  // namespace assay::rmsnorm
