#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "assay/base/json.h"
#include "assay/base/text.h"
#include "assay/report/attempt_report.h"
#include "cli/exit_code.h"
#include "cli/lab/attempt_words.h"
#include "cli/lab/lab_commands.h"
#include "cli/lab/lab_place.h"

namespace assay::cli {
namespace {

std::string gain_of(const lab::Attempt& attempt) {
  if (!attempt.claim || attempt.baseline || attempt.claim->high <= 0) return "-";
  return gain_text(*attempt.claim);
}

Json json_of(const lab::Attempt& attempt) {
  Json json = {{"id", attempt.id},
               {"seq", attempt.seq},
               {"run_tag", attempt.run_tag},
               {"series", attempt.series},
               {"parent", attempt.parent},
               {"tree", attempt.tree},
               {"env", attempt.env},
               {"lane", attempt.lane},
               {"family", attempt.family},
               {"target", attempt.target},
               {"description", attempt.description},
               {"hypothesis", attempt.hypothesis},
               {"started", attempt.started},
               {"ended", attempt.ended},
               {"state", attempt.outcome ? Json(to_string(*attempt.outcome)) : Json("running")},
               {"baseline", attempt.baseline},
               {"reason", attempt.reason},
               {"record", attempt.record},
               {"primary", nullptr},
               {"claim", nullptr}};
  if (attempt.primary)
    json["primary"] = {{"key", attempt.primary->key},
                       {"value", attempt.primary->value},
                       {"unit", attempt.primary->unit}};
  if (attempt.claim)
    json["claim"] = {{"word", attempt.claim->word},
                     {"ratio", attempt.claim->ratio},
                     {"low", attempt.claim->low},
                     {"high", attempt.claim->high},
                     {"pairs", attempt.claim->pairs}};
  return json;
}

class LabHistoryCommand : public Command {
 public:
  const char* name() const override { return "history"; }
  const char* summary() const override { return "What was tried in a case, and what came of it"; }
  const char* example() const override { return "assay lab history --outcome keep"; }

  void declare(Flags& app) override {
    case_.declare(app);
    app.add_option("--run-tag", run_tag_, "Only of this climb").type_name("NAME");
    app.add_option("--family", family_, "Only of this family").type_name("NAME");
    app.add_option("--outcome", outcome_, "Only with this outcome: keep, discard ...")
        .type_name("WORD");
    app.add_option("--last", last_, "So many at most, the newest; 0: all")
        .range(0, 1'000'000'000)
        .type_name("N")
        .show_default();
    app.add_flag("--tsv", tsv_, "One line an attempt, its fields parted by tabs");
  }

  Result<int> run(Context& context) override {
    ASSAY_TRY(const LabPlace place, case_.find());
    if (!outcome_.empty()) ASSAY_TRY(parse_attempt_outcome(outcome_).map([](AttemptOutcome) {}));
    ASSAY_TRY(const lab::HistoryContent content, history_of(context, place));
    if (content.torn_at)
      context.console.note("the last line of the history is torn; the next attempt cuts it off");
    std::vector<lab::Attempt> attempts;
    for (const lab::Attempt& attempt : content.attempts)
      if (is_wanted(attempt)) attempts.push_back(attempt);
    if (last_ > 0 && attempts.size() > static_cast<size_t>(last_))
      attempts.erase(attempts.begin(), attempts.end() - last_);
    context.console.result(context.console.json() ? json(place, attempts)
                           : tsv_                 ? tsv(attempts)
                                                  : table(context.console, attempts));
    return kDone;
  }

 private:
  bool is_wanted(const lab::Attempt& attempt) const {
    return (run_tag_.empty() || attempt.run_tag == run_tag_) &&
           (family_.empty() || attempt.family == family_) &&
           (outcome_.empty() || (attempt.outcome && to_string(*attempt.outcome) == outcome_));
  }

  static std::string json(const LabPlace& place, const std::vector<lab::Attempt>& attempts) {
    Json list = Json::array();
    for (const lab::Attempt& attempt : attempts) list.push_back(json_of(attempt));
    return dump_pretty(
        {{"schema", "assay.lab_history/1"}, {"case", place.target.name}, {"attempts", list}});
  }

  static std::string tsv(const std::vector<lab::Attempt>& attempts) {
    std::string text =
        "seq\tid\trun_tag\toutcome\tmetric\tvalue\tunit\tratio\tlow\thigh\tpairs\tfamily\t"
        "description\treason\n";
    for (const lab::Attempt& one : attempts) {
      const lab::Primary primary = one.primary.value_or(lab::Primary{});
      const lab::Claim claim = one.claim.value_or(lab::Claim{});
      // A tab in a text would be a column.
      text += fmt::format("{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\n", one.seq,
                          one.id, one.run_tag, outcome_word(one), primary.key, primary.value,
                          primary.unit, claim.ratio, claim.low, claim.high, claim.pairs, one.family,
                          sanitize(one.description), sanitize(one.reason));
    }
    return text;
  }

  static std::string table(const Console& console, const std::vector<lab::Attempt>& attempts) {
    if (attempts.empty()) return "no attempt yet; `assay lab eval` makes the baseline\n";
    report::Table table;
    table.columns = {{"no", report::Align::right},        {"outcome"},
                     {"objective", report::Align::right}, {"gain"},
                     {"family", report::Align::left, 8},  {"description", report::Align::left, 12}};
    for (const lab::Attempt& attempt : attempts) {
      report::Table::Row row;
      row.cells = {{std::to_string(attempt.seq)},
                   {outcome_word(attempt),
                    attempt.outcome ? report::tone_of(*attempt.outcome) : report::Tone::caution},
                   {attempt.primary ? value_text(*attempt.primary) : "-"},
                   {gain_of(attempt)},
                   {sanitize(attempt.family, 60)},
                   {sanitize(attempt.description, 200)}};
      table.rows.push_back(std::move(row));
    }
    return report::text_table(table, style_of(console));
  }

  CaseFlag case_;
  std::string run_tag_, family_, outcome_;
  int last_ = 50;
  bool tsv_ = false;
};

}  // namespace

std::unique_ptr<Command> make_lab_history_command() {
  return std::make_unique<LabHistoryCommand>();
}

}  // namespace assay::cli
