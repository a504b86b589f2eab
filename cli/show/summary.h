#pragma once

// What `--json` prints of a run: "assay.summary/1". Samples stay in the record.

#include <string>
#include <vector>

#include "assay/base/json.h"
#include "assay/record/record.h"

namespace assay::cli {

struct SummaryFiles {
  std::string record;                // record.json's path.
  std::vector<std::string> results;  // <provider>_results.json.
  // Of those: what can be compared without a gap, the baseline first. Empty: no two.
  std::vector<std::string> comparable;
};

Json summary_json(const RunRecord& record, const SummaryFiles& files, int exit_code);
// One kernel of a problem: ending, proof, times.
Json kernel_summary(const ProblemRecord& problem, const KernelOutcome& kernel);

}  // namespace assay::cli
