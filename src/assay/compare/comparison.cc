#include "assay/compare/comparison.h"

#include <algorithm>

#include "assay/base/file.h"
#include "assay/record/record.h"

namespace assay {
namespace {

Json side_json(const Side& side) {
  return {{"provider", side.provider},
          {"kernel", side.kernel},
          {"tflops", side.tflops},
          {"runtime_ms", side.runtime_ms}};
}

Json competitor_json(const Competitor& competitor, const std::string& baseline) {
  Json json = side_json(competitor.side);
  json["speedup"] = competitor.speedup;
  json["speedup_vs_" + baseline] = competitor.speedup;
  json["proven"] = competitor.proven();
  if (competitor.verdict) {
    json["verdict"] = to_json(*competitor.verdict);
  } else {
    json["verdict"] = nullptr;
    json["why_unproven"] = competitor.why_unproven;
  }
  return json;
}

Json row_json(const ComparisonRow& row) {
  Json json = {{"schema", std::string(kComparisonSchema)},
               {"name", row.name},
               {"baseline", side_json(row.baseline)},
               {"baseline_provider", row.baseline.provider},
               {"baseline_kernel", row.baseline.kernel},
               {"baseline_tflops", row.baseline.tflops},
               {"baseline_runtime_ms", row.baseline.runtime_ms},
               {"competitors", Json::array()}};
  for (const Competitor& competitor : row.competitors) {
    json["competitors"].push_back(competitor_json(competitor, row.baseline.provider));
  }
  return json;
}

}  // namespace

std::string_view to_string(ClaimState state) {
  switch (state) {
    case ClaimState::held:
      return "held";
    case ClaimState::refuted:
      return "refuted";
    case ClaimState::unproven:
      return "unproven";
  }
  return "unproven";
}

const Competitor* ComparisonRow::find(std::string_view provider) const {
  for (const Competitor& competitor : competitors) {
    if (competitor.side.provider == provider) return &competitor;
  }
  return nullptr;
}

int exit_code(const Comparison& comparison) {
  if (!comparison.missing.empty() || !comparison.stale.empty()) return 3;
  const bool failed = std::any_of(comparison.claims.begin(), comparison.claims.end(),
                                  [](const Claim& claim) { return claim.fails; });
  return failed || !comparison.disputes.empty() ? 1 : 0;
}

Json to_json(const Comparison& comparison) {
  Json json = Json::object();
  for (const ComparisonRow& row : comparison.rows) json[row.key] = row_json(row);
  return json;
}

Status write_comparison(const std::string& path, const Comparison& comparison) {
  return write_file_atomic(path, dump_pretty(to_json(comparison)));
}

Json summary_json(const Comparison& comparison) {
  Json claims = Json::array();
  for (const Claim& claim : comparison.claims) {
    claims.push_back({{"text", claim.text},
                      {"state", std::string(to_string(claim.state))},
                      {"why", claim.why},
                      {"fails", claim.fails}});
  }
  return {{"schema", std::string(kComparisonSchema)},
          {"baseline_provider", comparison.baseline_provider},
          {"providers", comparison.providers},
          {"margin", comparison.margin},
          {"problems", to_json(comparison)},
          {"claims", std::move(claims)},
          {"missing", comparison.missing},
          {"stale", comparison.stale},
          {"disputes", comparison.disputes},
          {"notes", comparison.notes},
          {"exit_code", exit_code(comparison)}};
}

}  // namespace assay
