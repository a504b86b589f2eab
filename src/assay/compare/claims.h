#pragma once

// What compare is asked to hold true. Each function is pure and returns one claim per problem.

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "assay/base/result.h"
#include "assay/compare/comparison.h"
#include "assay/record/provider_results.h"

namespace assay {

// An earlier comparison.json or results file, for --against-previous.
struct Previous {
  struct Entry {
    std::string key;  // As in comparison.json, or the result's name.
    std::string provider;
    std::string baseline;             // Empty where the file is a results file.
    double speedup = 0;               // Over that baseline.
    std::optional<double> low, high;  // The interval that went with it.
    double runtime_ms = 0;            // 0 where the file is a comparison.
  };
  std::string origin;
  std::vector<Entry> entries;
  std::optional<Environment> environment;
};
Result<Previous> read_previous(const JsonDocument& document);
Result<Previous> load_previous(const std::string& path);  // Absent: ErrorCode::missing.

struct Requirements {
  std::vector<std::string> require;             // --require PROVIDER...
  std::map<std::string, double> expect_within;  // --expect-within PROVIDER=0.05
  std::optional<Previous> previous;             // --against-previous
  bool proven = false;                          // --proven: bare numbers do not count.
};

// "faster: 1.070 [1.060, 1.080]"; "slower by at least 25 x; why".
std::string verdict_text(const stats::Verdict& verdict);

// Whether a speed-up is no less than before by more than the margin, both intervals taken into
// account. What cannot be told fails.
Claim speedup_kept(std::string text, const stats::Verdict& before, const stats::Verdict& now,
                   double margin);

// "P beats B on X by more than the margin". With samples: held by the word `faster` alone; refuted
// where the interval ends below the margin; else unproven, which fails too. With bare numbers:
// held or refuted by the ratio, unproven under --proven.
std::vector<Claim> require_faster(const Comparison& comparison, const std::string& provider,
                                  bool proven);

// "P is within 5 % of B on X": its ratio is at least 1 - 0.05. An interval that holds the limit
// leaves it unproven, which fails only under --proven.
std::vector<Claim> expect_within(const Comparison& comparison, const std::string& provider,
                                 double fraction, bool proven);

// "P is no slower than before on X". Times of two runs are never compared where it can be helped:
// against a comparison.json it is the speed-up over the same baseline that must not have fallen by
// more than the margin, with both intervals taken into account; against a results file only the
// times are there. Problems that are gone are added to `missing`.
std::vector<Claim> no_regression(const Comparison& comparison, const Previous& previous,
                                 bool proven, std::vector<std::string>& missing);

}  // namespace assay
