#pragma once

// What a climb kept, as commits on a branch of its own. Nobody's checkout, index or other branch is
// touched: merging is the user's.

#include <string>
#include <vector>

#include "assay/lab/files/case_file.h"
#include "assay/lab/files/history.h"

namespace assay::lab {

struct KeepBranch {
  std::string name;  // "assay/MODEL/CASE/TAG"; empty: the case is in no repository.
  int commits = 0;   // That were added.
};

// Adds a commit for each kept state of the run tag that the branch does not have yet; each has the
// trailer "Assay-Attempt: ID". Saying it again adds nothing. failed: git refuses, and why.
// `environment`: of the programs that are started.
Result<KeepBranch> commit_keeps(const Case& target, const HistoryContent& content,
                                const std::string& run_tag,
                                const std::vector<std::string>& environment);

}  // namespace assay::lab
