#pragma once

// Removes what can be had again, and nothing else.

#include <cstdint>
#include <filesystem>

#include "assay/base/result.h"

namespace assay::lab {

struct Pruned {
  int objects = 0;  // That no attempt and no file of the case needs: a crash left them.
  std::uint64_t object_bytes = 0;
  int copies = 0;  // Folders in the cache, of cases that are gone.
};

// busy where an attempt is under way. `dry_run`: only counts.
Result<Pruned> prune(const std::filesystem::path& case_folder, const std::filesystem::path& cache,
                     bool dry_run);

}  // namespace assay::lab
