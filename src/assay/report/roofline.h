#pragma once

// The roofline of a run: operations per byte against operations per second, under the ceilings that
// were measured in its window. Private to report/.

#include <string>

#include "assay/record/record.h"

namespace assay::report {

// HTML; empty where nothing was timed.
std::string roofline(const RunRecord& record);

}  // namespace assay::report
