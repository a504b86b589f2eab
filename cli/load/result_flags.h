#pragma once

// The flags that say what a run's record has beside its figures, and where else it goes.

#include <string>
#include <vector>

#include "assay/base/json.h"
#include "assay/load/metrics.h"
#include "cli/command.h"

namespace assay::cli {

class ResultFlags {
 public:
  void declare(Flags& app);

  Result<Json> metadata() const;  // An object of texts; may be empty.
  Result<load::Percentiles> percentiles() const;
  // That the flags fit each other.
  Status check() const;
  // Writes the record to --result-filename, below the folder of --output-dir if one was given.
  Status write(const Json& record, const std::string& output_dir) const;

 private:
  std::vector<std::string> metadata_;
  std::string file_, percents_, figures_;
  bool appends_ = false;
};

}  // namespace assay::cli
