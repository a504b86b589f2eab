#pragma once

// Everything that a record says of a run, as sections: results, every interval, how every kernel
// ended, refusals, findings, environment, evidence. Private to report/.

#include <span>
#include <vector>

#include "assay/record/record.h"
#include "assay/report/document.h"

namespace assay::report {

// beside: as in RunReportOptions.
std::vector<Section> run_sections(const RunRecord& record, std::span<const RunRecord> beside);

// "sweep decode", "race my_gemm_...": how titles call a run.
std::string run_title(const RunRecord& record);

}  // namespace assay::report
