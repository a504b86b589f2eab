#pragma once

// Not for use outside this folder.

#include <vector>

#include "assay/base/result.h"
#include "assay/input/file_and_entry.h"
#include "assay/input/source_reader.h"
#include "assay/kernel/taker.h"

namespace assay::input {

// As of manifest.h, by a reader that others share. Every entry has the files that were read for it.
Result<std::vector<KernelEntry>> read_kernels(const FileAndEntry& wanted, const LaunchForms& forms,
                                              SourceReader& reader);

}  // namespace assay::input
