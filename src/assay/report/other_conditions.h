#pragma once

// A run's verdicts beside runs of the same problems under other conditions. Private to report/.

#include <span>

#include "assay/record/record.h"
#include "assay/report/document.h"

namespace assay::report {

// What each of `beside` shows of the two kernels of each headline, where it confirmed both under
// another condition or race class, and whose sign is another one there.
Section other_conditions(const RunRecord& record, std::span<const RunRecord> beside);

}  // namespace assay::report
