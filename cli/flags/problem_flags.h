#pragma once

// The flags that say which problems are meant.

#include <string>
#include <vector>

#include "assay/base/result.h"
#include "assay/input/suite.h"
#include "assay/record/profiler_csv.h"
#include "assay/sweep/sweep.h"
#include "cli/flags/flags.h"
#include "cli/show/console.h"

namespace assay::cli {

struct ProblemFlags {
  std::string suite;                // --suite NAME|FILE
  std::vector<std::string> names;   // --shapes NAME...
  std::vector<std::string> shapes;  // --shape m=...
  std::string model;                // --model config.json
  int tensor_parallel = 1;          // --tp N
  std::string batches, dtype;       // --batch 1:256:*2, --dtype bf16
  std::string experts;              // --experts tokens=4|uniform

  void declare(Flags& app);
  // What --shape leaves open, and these files allow one value for, is as they say; the console is
  // told so.
  Status complete(Console& console, std::span<const input::KernelSource> files);
  bool empty() const { return suite.empty() && names.empty() && shapes.empty() && model.empty(); }
  // The problems; `fallback` is the suite where none was named.
  Result<input::Suite> read(const std::string& fallback) const;
  // What of a model that was read is not among its problems: sentences.
  const std::vector<std::string>& notes() const { return notes_; }
  // The same into a request, with what its record says of them; what was left out is noted.
  Status fill(sweep::Request& request, const std::string& fallback, Console& console) const;

 private:
  Result<input::Suite> read_model() const;

  mutable std::vector<std::string> notes_;  // As read() found them.
};

// The names of a suite's problems by their sizes, for rows of other tools; none for an empty name.
Result<std::vector<NamedSizes>> named_sizes(const std::string& suite);

}  // namespace assay::cli
