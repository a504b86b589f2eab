#pragma once

// Where a run took place, and what makes its claims checkable. Private to report/.

#include "assay/record/record.h"
#include "assay/report/document.h"

namespace assay::report {

Section environment_section(const RunRecord& record);
// The command, the options, the trust grade, commitments and seeds.
Section evidence_section(const RunRecord& record);

}  // namespace assay::report
