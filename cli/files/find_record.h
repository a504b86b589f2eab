#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "assay/base/result.h"

namespace assay::cli {

// Of the runs below the current folder, where race and sweep leave them unless they are told
// otherwise; newest first.
std::vector<std::filesystem::path> records_here();

// The record's file that a user means by a run: itself, or the one in that folder.
// ErrorCode::missing if there is none, with the runs that there are, or how to finish that one.
Result<std::string> find_record(const std::string& run);

}  // namespace assay::cli
