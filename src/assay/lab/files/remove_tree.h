#pragma once

// Folders that an agent, a build or a benchmark made: it may have taken the rights to them away, or
// have made them deeper than a path is long.

#include <filesystem>

#include "assay/base/result.h"

namespace assay::lab {

// A folder with all that is in it; a file; a link, which is not followed. Fine if nothing is there.
Status remove_tree(const std::filesystem::path& path);

// Gives its owner the rights to look into each folder below, as far as paths reach.
void make_walkable(const std::filesystem::path& folder);

}  // namespace assay::lab
