#pragma once

// A compiled configuration as it leaves the house: its shared object, the header of its interface,
// and C++ that makes what launches need and enqueues.

#include "assay/kernel/export.h"

namespace assay::cutlass {

Result<KernelExport> export_call(const KernelMetadata& row, const Problem& problem,
                                 const ExportOptions& options);

}  // namespace assay::cutlass
