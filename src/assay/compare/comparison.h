#pragma once

// What `assay compare` found: plain data, made by compare() and shown by report/.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/stats/verdict.h"

namespace assay {

// One provider's kernel on one problem, as its results file has it.
struct Side {
  std::string provider;
  std::string kernel;
  double tflops = 0;
  double runtime_ms = 0;
};

struct Competitor {
  Side side;
  double speedup = 1;                     // Baseline's runtime over this one's, from the files.
  std::optional<stats::Verdict> verdict;  // Against the baseline, made from the record's samples.
  std::string why_unproven;               // A sentence where there is no verdict.

  bool proven() const { return verdict.has_value(); }
  // The ratio that is shown: the verdict's, or the bare one.
  double ratio() const { return verdict ? verdict->ratio : speedup; }
};

struct ComparisonRow {
  std::string key;  // The problem's name; longer where that is not unique.
  std::string name;
  Side baseline;
  std::vector<Competitor> competitors;  // In the order of the files.

  const Competitor* find(std::string_view provider) const;
};

enum class ClaimState { held, refuted, unproven };
std::string_view to_string(ClaimState state);

struct Claim {
  std::string text;  // "triton beats cutlass on decode by more than 1 %".
  ClaimState state = ClaimState::unproven;
  std::string why;     // "1.07 [1.06, 1.08]", "only numbers: ..."
  bool fails = false;  // It makes compare exit 1.
};

struct Comparison {
  std::string baseline_provider;
  std::string baseline_file;
  std::vector<std::string> providers;
  double margin = 0.01;
  std::vector<ComparisonRow> rows;
  std::vector<Claim> claims;
  std::vector<std::string> missing;   // Files, problems and records that are not there.
  std::vector<std::string> stale;     // Environments that differ.
  std::vector<std::string> disputes;  // Records whose words are not what their samples say.
  std::vector<std::string> notes;
};

// 3 if something is missing or stale, else 1 if a claim failed or a record is disputed, else 0.
int exit_code(const Comparison& comparison);

// comparison.json: an object by problem key and nothing else, so that scripts may walk over it.
// Every entry names the schema, `baseline` and the flat baseline_* fields, and its competitors with
// `speedup`, `speedup_vs_<baseline's provider>`, `proven` and the verdict.
inline constexpr std::string_view kComparisonSchema = "assay.comparison/1";
Json to_json(const Comparison& comparison);
Status write_comparison(const std::string& path, const Comparison& comparison);

// What `--json` prints: the same under "problems", with claims, missing, stale, disputes, notes and
// the exit code.
Json summary_json(const Comparison& comparison);

}  // namespace assay
