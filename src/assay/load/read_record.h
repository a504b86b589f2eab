#pragma once

// A run that was kept: its record's head, and its samples, of which every figure is made again.

#include <filesystem>
#include <string>
#include <vector>

#include "assay/base/json.h"
#include "assay/load/result.h"
#include "assay/load/trace.h"

namespace assay::load {

struct KeptRun {
  JsonDocument record;
  std::vector<std::vector<Trace>> runs;
  // Of each run: its figures, made again of its samples, and what the record says against it.
  std::vector<Judged> judged;
};

// `path`: load.json, or the folder that has it. Errors: invalid_input (no such record, samples that
// are damaged), not_found.
Result<KeptRun> read_kept_run(const std::filesystem::path& path);

}  // namespace assay::load
