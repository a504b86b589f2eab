#pragma once

// Several files of one race, side by side.

#include <span>
#include <string>

#include "assay/record/record.h"
#include "assay/report/table.h"
#include "cli/files/user_files.h"

namespace assay::cli {

// The best kernel of each file by its median in the race, and how many times as fast as the first
// file's it is. Medians of a race show a way, and claim nothing. Empty for a single file.
std::string files_table(const ProblemRecord& problem, std::span<const UserFile> files,
                        const report::TextStyle& style);

}  // namespace assay::cli
