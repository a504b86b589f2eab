#pragma once

// Whether a folder may hold compiled kernels: whoever can write there chooses what runs.

#include <filesystem>

#include "assay/base/result.h"

namespace assay {

// Makes the folder if it is absent. invalid_input, with the folder and a remedy, if it cannot be
// made or written, belongs to another user, may be written by others, or lies where no program may
// be run from.
Status check_cache_folder(const std::filesystem::path& folder);

}  // namespace assay
