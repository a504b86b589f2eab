#pragma once

// A routine as it leaves: the call that was raced, as C++ text.

#include <string>

#include "api.h"
#include "assay/kernel/export.h"

namespace assay::blis {

// "sgemm" or "dgemm" (typed: bli_ rather than cblas_). The problem must be one that the row
// supports.
Result<KernelExport> export_call(const Api& api, const std::string& routine, bool typed,
                                 const Problem& problem, const ExportOptions& options);

}  // namespace assay::blis
