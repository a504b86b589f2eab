#pragma once

#include <string>

#include "assay/base/result.h"

namespace assay::cli {

// The record's file that a user means by a run: itself, or the one in that folder.
// ErrorCode::missing where there is none, with how to get one where the run was not finished.
Result<std::string> find_record(const std::string& run);

}  // namespace assay::cli
