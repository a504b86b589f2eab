#pragma once

// A routine as it leaves: the call that was raced, as C++ text.

#include <memory>
#include <string>

#include "api.h"
#include "assay/kernel/export.h"

namespace assay::openblas {

// "sgemm", "dgemm", "sbgemm", "sgemv" or "dgemv". The problem must be one that it supports.
Result<KernelExport> export_call(const Api& api, const std::string& routine, const Problem& problem,
                                 const ExportOptions& options);

}  // namespace assay::openblas
