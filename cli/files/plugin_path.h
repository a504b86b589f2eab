#pragma once

// Where `--plugin NAME` looks.

#include <span>
#include <string>

#include "assay/base/result.h"

namespace assay::cli {

// FILE, FILE::KERNEL, or a NAME: then NAME, NAME.so or libNAME.so in the first folder that has one.
// Errors (invalid_input) say where was looked, and name the nearest plug-in that is there.
Result<std::string> find_plugin(const std::string& file_or_name,
                                std::span<const std::string> folders);

}  // namespace assay::cli
