#pragma once

// Results to compare, as tests write them.

#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "assay/compare/compare.h"
#include "assay/record/testing/sample_record.h"

namespace assay::testing {

inline ResultsFile file_of(const std::string& text, const std::string& path) {
  const auto document = parse_json_document(text, path);
  EXPECT_TRUE(document.has_value()) << document.error().message;
  auto results = read_provider_results(*document);
  EXPECT_TRUE(results.has_value()) << results.error().message;
  return {path, std::move(*results)};
}

// A file written by hand: {name, microseconds}.
inline ResultsFile by_hand(const std::string& provider,
                           const std::vector<std::pair<std::string, double>>& times,
                           const std::vector<std::string>& failed = {}) {
  ProviderResults results;
  results.provider = provider;
  results.origin = provider + "_results.json";
  results.failed = failed;
  for (const auto& [name, us] : times) {
    ProviderResult result;
    result.name = name;
    result.runtime_ms = us * 1e-3;
    result.tflops = 1 / us;
    result.kernel = provider + "_kernel";
    results.results.push_back(result);
  }
  return {results.origin, results};
}

// Results whose record is `record`, found under any path.
struct Recorded {
  RunRecord record = make_record();
  ResultsFile file(const std::string& provider) const {
    return {provider + "_results.json", results_of(record, provider, "record.json")};
  }
  RecordLookup lookup() const {
    return [this](const std::string&, const std::string&) -> Result<const RunRecord*> {
      return &record;
    };
  }
};

inline Result<const RunRecord*> no_records(const std::string&, const std::string& path) {
  return fail(ErrorCode::not_found, "{}: no such file", path);
}

inline Comparison compared(const ResultsFile& baseline, const std::vector<ResultsFile>& others,
                           const CompareOptions& options = {},
                           const RecordLookup& lookup = no_records) {
  const auto comparison = compare(baseline, others, lookup, options);
  EXPECT_TRUE(comparison.has_value()) << comparison.error().message;
  return comparison ? *comparison : Comparison{};
}

inline CompareOptions requiring(const std::string& provider, bool proven = false) {
  CompareOptions options;
  options.requirements.require = {provider};
  options.requirements.proven = proven;
  return options;
}

}  // namespace assay::testing
