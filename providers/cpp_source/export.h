#pragma once

// A user's function as it leaves: its own files, and a call of it with a problem's values.

#include <string>
#include <vector>

#include "assay/kernel/export.h"
#include "call.h"

namespace assay::cpp_source {

struct SourceExport {
  CallValues values;
  std::vector<std::string> macros;  // "TILE=4".
  const Target& target;
};

// The source and what it includes from beside it or along -I, below kernel/. Errors: a file that
// cannot be read.
Result<KernelExport> export_source(const SourceExport& request);

}  // namespace assay::cpp_source
