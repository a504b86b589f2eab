#include "cli/race/race_gate.h"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "assay/base/text.h"
#include "assay/report/gate_report.h"
#include "cli/files/find_record.h"
#include "cli/show/race_text.h"

namespace assay::cli {

void RaceGate::declare(Flags& app) {
  app.add_option("--require", require_,
                 "Claim: yours is faster than the best stock kernel, no slower, or within a share "
                 "of it; exit 1 unless shown")
      .type_name("faster|same|within:3%");
  app.add_option("--against-previous", previous_path_,
                 "Claim: yours is no slower than in this earlier race, both against one stock "
                 "kernel; exit 1 unless shown")
      .type_name("RECORD");
  app.add_option("--format", format_, "Claims for a workflow: github's annotations, or JUnit's XML")
      .one_of({"github", "junit"})
      .type_name("FORMAT");
}

Status RaceGate::read(const Context& context) {
  if (!format_.empty() && !given())
    return fail(ErrorCode::invalid_input,
                "--format shows claims; give --require or --against-previous with it");
  if (!format_.empty() && context.console.json())
    return fail(ErrorCode::invalid_input,
                "--format and --json are two forms of one answer; give one");
  if (!require_.empty()) {
    ASSAY_TRY(requirement_, parse_requirement(require_));
  }
  if (previous_path_.empty()) return {};
  ASSAY_TRY(const std::string path, find_record(previous_path_));
  ASSAY_TRY(previous_, load_record(path));
  return {};
}

RaceGate::Outcome RaceGate::hold(const RunRecord& record) const {
  Outcome outcome;
  if (requirement_) outcome.claims = require_of_race(record, *requirement_);
  if (!previous_) return outcome;
  Regression found = no_regression(record, *previous_, previous_path_);
  std::ranges::move(found.claims, std::back_inserter(outcome.claims));
  outcome.missing = std::move(found.missing);
  outcome.stale = std::move(found.stale);
  return outcome;
}

RaceGate::Outcome RaceGate::of_nothing(std::vector<std::string> why) const {
  Outcome outcome;
  if (given()) outcome.missing = std::move(why);
  return outcome;
}

int RaceGate::Outcome::exit_code(int code) const {
  if (code != kDone && code != kRefuted) return code;
  if (!missing.empty() || !stale.empty()) return kMissingRecords;
  return std::ranges::any_of(claims, &Claim::fails) ? kRefuted : code;
}

std::string RaceGate::shown(const Outcome& outcome, std::string text,
                            const report::TextStyle& style) const {
  if (!given()) return text;
  std::vector<std::string> problems = outcome.missing;
  for (const std::string& sentence : outcome.stale) problems.push_back("stale: " + sentence);
  if (format_ == "junit") return report::junit_xml("assay race", outcome.claims, problems);
  for (const Claim& claim : outcome.claims)
    text += line_text({std::string(to_string(claim.state)),
                       sanitize(claim.text, 600) + " (" + sanitize(claim.why, 600) + ")"},
                      style);
  for (const std::string& sentence : problems)
    text += line_text({"missing", sanitize(sentence, 600)}, style);
  return format_ == "github" ? text + report::github_lines(outcome.claims) : text;
}

Json RaceGate::json(const Outcome& outcome) {
  Json claims = Json::array();
  for (const Claim& claim : outcome.claims)
    claims.push_back({{"claim", claim.text},
                      {"state", std::string(to_string(claim.state))},
                      {"why", claim.why},
                      {"fails", claim.fails}});
  return {{"claims", std::move(claims)}, {"missing", outcome.missing}, {"stale", outcome.stale}};
}

}  // namespace assay::cli
