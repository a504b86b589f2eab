#pragma once

// Which files a Python source brings along: the modules beside it that it imports, and those that
// these import. Found without Python, which would run them.

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "assay/base/result.h"
#include "assay/kernel/provider.h"

namespace assay::input {

// Files below `root` that a text standing at `path` imports, by its import statements: those inside
// of functions, and under a condition that is never true, count too. What it imports in other ways
// is not found.
std::vector<std::filesystem::path> imported_files(std::string_view text,
                                                  const std::filesystem::path& path,
                                                  const std::filesystem::path& root);

// The entry's source and what it brings along: texts by their place from the source's folder.
// Errors: too many or too large ones (invalid_input).
Result<std::map<std::string, std::string>> python_files(const KernelEntry& entry);

}  // namespace assay::input
