#pragma once

// --save-table: the tuned table of a finished run.

#include <string>

#include "assay/base/result.h"
#include "cli/command.h"
#include "cli/show/show_run.h"

namespace assay::cli {

struct SavedTable {
  std::string path;
  size_t problems = 0, kernels = 0, bytes = 0;
  std::vector<std::string> left_out;
};

// A table's path that cannot be written, or holds what is no table, is known before a run that
// takes minutes.
Status check_table_path(const std::string& path);

// Reads the run's record whole, makes the table and writes it. A run without a winner leaves none:
// its path is then empty.
Result<SavedTable> save_table(const sweep::Request& request, const FinishedRun& run,
                              const std::string& path);

std::string saved_table_text(const SavedTable& saved);
Json to_json(const SavedTable& saved);

}  // namespace assay::cli
