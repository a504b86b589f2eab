#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "assay/profiler/sweep.h"
#include "cli/flags/problem_flags.h"
#include "cli/flags/profiler_flags.h"
#include "cli/flags/race_options.h"

namespace assay::cli {

// What `assay sweep` was told, where --profiler is given.
struct ProfilerSweep {
  const ProfilerFlags& flags;
  const ProblemFlags& problems;
  const RaceOptions& options;
  const std::vector<std::string>& kernels;
  std::filesystem::path folder;  // Empty: artifacts/cutlass_profiler.
  profiler::IfPresent if_present = profiler::IfPresent::refuse;
};

// Runs the profiler on each shape and shows what came of it. Exit code 1 where a shape failed.
Result<int> sweep_by_profiler(Context& context, const ProfilerSweep& sweep);

}  // namespace assay::cli
