#pragma once

// What an attempt of a lab leaves behind: "assay.attempt_record/1". Plain data; what was decided
// can be decided again from its pairs.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/stats/keep.h"
#include "assay/stats/verdict.h"

namespace assay {

inline constexpr std::string_view kAttemptRecordSchema = "assay.attempt_record/1";

enum class AttemptOutcome : std::uint8_t {
  keep,
  near_tie,
  discard,
  setup_failed,
  build_failed,
  tests_failed,
  parity_failed,
  guardrail_failed,
  holdout_failed,
  crash,
  timeout,
  violation,
  interrupted,
};
std::string_view to_string(AttemptOutcome outcome);
Result<AttemptOutcome> parse_attempt_outcome(std::string_view text);
// Measured to a decision; every other outcome ended before one.
bool is_decided(AttemptOutcome outcome);

struct AttemptStage {
  std::string name;     // "setup", "build", "tests", "parity", "confirm", "guardrails", "notify".
  std::string outcome;  // "passed", "failed", "skipped".
  double seconds = 0;
  std::string reason;
};

struct AttemptMetric {
  double value = 0;  // The candidate's: the median over its runs.
  std::string unit;
};

// One measurement of the candidate and the incumbent side by side.
struct AttemptPair {
  int number = 0;
  bool candidate_first = false;
  bool swapped = false;                      // The two had exchanged their folders.
  std::map<std::string, double> log_ratios;  // By metric; above 0 where the candidate is better.
  std::map<std::string, double> candidate, incumbent;
};

struct AttemptGuardrail {
  std::string metric;
  double tolerance = 0;
  double ratio = 1, low = 0;
  bool holds = false;
  std::string reason;
};

// By which it was decided.
struct AttemptRules {
  std::string metric, direction, unit;
  double min_effect = 0;
  std::vector<int> looks;
  double false_keeps = 0, trim_fraction = 0, systematic = 0;
  bool budget_over = false;
};

// Who made the change, and what it says that cost.
struct AttemptAgent {
  std::string command;
  double seconds = 0, usd = 0;
  std::int64_t tokens = 0;
};

// Where the time of one run went.
struct AttemptBucket {
  std::string name;
  double share = 0;
};
struct AttemptProfile {
  // "assay race", "assay why", "perf", "callgrind", "nsys", "ncu"; parted by commas. Empty: there
  // was none.
  std::string tool;
  std::string reason;                  // Why there are no buckets; empty where there are.
  std::vector<AttemptBucket> buckets;  // The largest first.
  std::string limit;                   // What limits the largest, a sentence; empty: nobody says.
};

// What was held out from whoever made the change. Which shapes were drawn is not kept.
struct AttemptHoldout {
  std::int64_t draws = 0;
  double tolerance = 0, ratio = 1, low = 0;
  bool holds = false;
  std::string reason;
};

struct AttemptRecord {
  std::string id;
  std::int64_t seq = 0;
  std::string run_tag, case_name, series, parent, lane, family, target, description, hypothesis;
  std::string tree, incumbent_tree;
  std::map<std::string, std::string> env, incumbent_env;
  bool env_only = false, baseline = false;
  std::string started, ended;
  AttemptOutcome outcome = AttemptOutcome::interrupted;
  std::string reason;
  std::vector<AttemptStage> stages;
  std::map<std::string, AttemptMetric> metrics;
  std::map<std::string, bool> flags;
  std::optional<AttemptRules> rules;
  std::vector<AttemptPair> pairs;
  std::optional<stats::Verdict> claim;
  double smallest_keepable = 0;
  std::vector<AttemptGuardrail> guardrails;
  Json parity = Json(nullptr);
  std::optional<AttemptAgent> agent;
  std::optional<AttemptProfile> profile;
  std::optional<AttemptHoldout> holdout;
  std::string fixed_hash, model_fingerprint, harness, device, host;
  // Whether somebody was told (docs/lab.md).
  bool webhook_enabled_by_config = false, webhook_disabled_by_flag = false;
  bool webhook_expected = false, webhook_attempted = false, webhook_sent = false;
  std::string webhook_status = "disabled_by_config";
};

stats::KeepOptions keep_options(const AttemptRules& rules);
// From the pairs; not_found where the attempt was not measured.
Result<stats::KeepDecision> decide_again(const AttemptRecord& record);

Json to_json(const AttemptRecord& record);
Result<AttemptRecord> read_attempt_record(const JsonDocument& document);
Result<AttemptRecord> load_attempt_record(const std::string& path);

}  // namespace assay
