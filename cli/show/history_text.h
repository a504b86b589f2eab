#pragma once

// What a store answered, as tables.

#include <string>
#include <vector>

#include "assay/report/table.h"
#include "assay/store/entry.h"

namespace assay::cli {

std::string runs_text(const std::vector<store::RunEntry>& runs, const report::TextStyle& style);
std::string history_text(const std::vector<store::ResultEntry>& results,
                         const report::TextStyle& style);

}  // namespace assay::cli
