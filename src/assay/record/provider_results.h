#pragma once

// <provider>_results.json: the uniform schema in which any tool may hand over its numbers. Such
// kernels are never raced and never stock; what they claim stays `unproven` unless a record of ours
// holds the samples.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/record/record.h"

namespace assay {

inline constexpr std::string_view kProviderResultsSchema = "assay.provider_results/1";

// One result. name, tflops, runtime_ms and kernel are needed; everything else may be absent, and
// absent fields match when that is unique (compare/match.h).
struct ProviderResult {
  std::string name;  // The problem's.
  double tflops = 0;
  double runtime_ms = 0;
  std::string kernel;

  std::optional<std::int64_t> m, n, k, batch;
  std::optional<double> alpha, beta;  // 1 and 0 where not said: out = alpha a b + beta c.
  // Dtype by operand: a, b, out, accumulate. `"dtype": "fp16"` in a file sets a, b and out.
  std::map<std::string, std::string> dtypes;
  std::string layout;  // "tn"; empty if not said.
  std::optional<std::vector<std::string>> constant;
  std::string condition;                  // Condition::to_string(); empty if not said.
  std::string race_class;                 // RaceClass::to_string(); empty if not said.
  std::string key;                        // Problem::key(), where assay wrote the file.
  std::string kernel_id;                  // KernelOutcome::id in the record.
  std::string kernel_hash;                // Of the artifact.
  std::string record;                     // Path, relative to the file that names it.
  std::optional<double> gflops, gbps;     // GFLOP/s; GB/s in powers of ten.
  std::optional<stats::Verdict> verdict;  // As written; compare makes it again from the samples.
  Json metadata = Json::object();         // Launch parameters and whatever else a tool adds.
  std::string csv, log;                   // Files of the tool that measured.

  int line = 0;  // Of the file, for messages; not written.

  // FLOP of the problem, 2 m n k for each of the batch and 8 m n k of complex operands; 0 if the
  // sizes are not known.
  double work() const;
};

// Whether a dtype's elements are complex numbers: "cf32".
bool is_complex_type(std::string_view dtype);

struct ProviderResults {
  std::string provider;
  std::string binary;  // Of the tool; may be empty.
  std::vector<ProviderResult> results;
  std::vector<std::string> failed;             // Names of problems without a result.
  std::map<std::string, std::string> reasons;  // Of those, why: sentences, where that is known.
  std::optional<Environment> environment;      // Files written by hand have none.
  std::string origin;  // The file's name, as messages print it; not written.

  const ProviderResult* find(std::string_view name) const;  // The first of that name.
};

// Strict on what it uses: types, signs, finiteness, names, results given twice or listed as failed,
// and tflops, gflops, gbps and runtime_ms that contradict each other or m, n and k. Sizes in a
// problem's name count as such fields. Unknown fields are accepted. Errors are invalid_input with
// file, line and field.
Result<ProviderResults> read_provider_results(const JsonDocument& document);

// Reads the file; not_found if it is absent.
Result<ProviderResults> load_provider_results(const std::string& path);

Json to_json(const ProviderResults& results);
Status write_provider_results(const std::string& path, const ProviderResults& results);

// The best kernel of each provider on every problem of a run, which comes problem by problem: the
// fastest by the confirming samples where one of its kernels was confirmed, else by the race.
// Problems on which none of its kernels was timed are listed under `failed`.
class BestOfProviders {
 public:
  // `record_path` is written into each result, relative to where the results file will lie.
  void add(const ProblemRecord& problem, const std::string& record_path);
  // Sorted by provider; the reference is none.
  std::vector<ProviderResults> take(const Environment& environment);

 private:
  std::map<std::string, ProviderResults> results_;
  std::vector<std::string> problems_;
};

}  // namespace assay
