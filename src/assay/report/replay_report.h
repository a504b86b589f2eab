#pragma once

// What `assay replay` found, for people.

#include <string>
#include <vector>

#include "assay/compare/replay.h"
#include "assay/report/table.h"

namespace assay::report {

// Each claim with its word, both ratios with their intervals, and what differs; a line that counts.
// differences: of the runs as a whole.
std::string replay_text(const std::vector<ReplayedClaim>& claims,
                        const std::vector<std::string>& differences, const TextStyle& style = {});

}  // namespace assay::report
