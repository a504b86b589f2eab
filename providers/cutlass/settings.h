#pragma once

#include <filesystem>

#include "assay/device/cuda/libraries.h"
#include "assay/kernel/provider.h"

namespace assay::cutlass {

// What a user says of this provider.
struct Settings {
  bool whole_space = false;  // space=max: all that the generator can make, not its default level.
  bool sm80_on_hopper = false;      // ampere=all: Ampere's kernels on Hopper's GPUs, too.
  bool searches_runtime = false;    // runtime=search: raster order, swizzle, split of k as well.
  std::filesystem::path directory;  // CUTLASS itself, or where its package lies; empty: looked for.
  std::filesystem::path nvcc;       // Empty: looked for.
  std::filesystem::path pool;       // Kernels that are ready, besides the cache's; may be empty.
  std::filesystem::path cache;      // Of artifacts; empty: none.

  cuda::Settings pythons;  // In whose packages it is looked for.

  // ErrorCode::invalid_input.
  static Result<Settings> parse(const ProviderSettings& settings);
};

}  // namespace assay::cutlass
