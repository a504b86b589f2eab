#pragma once

// What limits a kernel, or two side by side.

#include <span>
#include <string>

#include "assay/compare/limits.h"
#include "assay/report/table.h"

namespace assay::report {

// A table with a column for each kernel, then the sentences of each.
std::string why_text(std::span<const Limits> kernels, const TextStyle& style = {});

}  // namespace assay::report
