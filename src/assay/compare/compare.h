#pragma once

// Results against results: who is faster, by how much, and what that rests on.

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "assay/base/result.h"
#include "assay/compare/claims.h"
#include "assay/compare/comparison.h"
#include "assay/record/profiler_csv.h"
#include "assay/record/provider_results.h"

namespace assay {

// A provider's file; no results where the file is absent, which is a row of `missing` and not an
// error.
struct ResultsFile {
  std::string path;
  std::optional<ProviderResults> results;
};

// JSON, or a cutlass_profiler report where the path ends in .csv (its rows are named by `names`).
// An absent file has no results; a broken one is invalid_input.
Result<ResultsFile> load_results_file(const std::string& path,
                                      std::span<const NamedSizes> names = {});

// Finds the record that a results file names. Errors: not_found, or invalid_input if it is broken.
// The record must stay alive while compare() runs.
using RecordLookup = std::function<Result<const RunRecord*>(const std::string& results_path,
                                                            const std::string& record_path)>;

// Reads records from disk, each once; relative paths start at the results file's folder.
class RecordFiles {
 public:
  Result<const RunRecord*> get(const std::string& results_path, const std::string& record_path);
  RecordLookup lookup();  // Valid as long as this object.

 private:
  std::map<std::string, std::shared_ptr<const RunRecord>> records_;
};

struct CompareOptions {
  double margin = 0.01;
  // --require-current: what this machine is.
  std::optional<Environment> current;
  Requirements requirements;
};

// Pure but for `lookup`. Errors (invalid_input): nothing to compare, a provider given twice, a
// requirement that names none of the providers, results that match in more than one way, a broken
// record. An absent baseline is ErrorCode::missing.
Result<Comparison> compare(const ResultsFile& baseline, std::span<const ResultsFile> competitors,
                           const RecordLookup& lookup, const CompareOptions& options);

}  // namespace assay
