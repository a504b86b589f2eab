#pragma once

#include <filesystem>

#include "assay/lab/files/environment_rules.h"

namespace assay::lab {

// NAME=VALUE lines of workspace/backend/env.defaults, the runtime policy of a tree; empty where
// there is no such file.
Result<Environment> read_env_defaults(const std::filesystem::path& case_folder);

}  // namespace assay::lab
