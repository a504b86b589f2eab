#include <array>
#include <cstdint>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "assay/base/choices.h"
#include "assay/base/expression.h"
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

// What --where can ask of an attempt; nothing where it has no such value.
constexpr std::array<std::string_view, 18> kNames = {
    "seq",  "id",       "run_tag", "outcome",     "family", "target", "lane", "parent", "baseline",
    "tree", "env_only", "value",   "description", "ratio",  "low",    "high", "pairs",  "usd"};

std::optional<Value> value_at(const lab::Attempt& attempt, std::string_view name) {
  const auto of_claim = [&](double lab::Claim::*member) -> std::optional<Value> {
    return attempt.claim ? std::optional<Value>((*attempt.claim).*member) : std::nullopt;
  };
  if (name == "seq") return Value(attempt.seq);
  if (name == "id") return Value(attempt.id);
  if (name == "run_tag") return Value(attempt.run_tag);
  if (name == "outcome") return Value(outcome_word(attempt));
  if (name == "family") return Value(attempt.family);
  if (name == "target") return Value(attempt.target);
  if (name == "lane") return Value(attempt.lane);
  if (name == "parent") return Value(attempt.parent);
  if (name == "tree") return Value(attempt.tree);
  if (name == "description") return Value(attempt.description);
  if (name == "baseline") return Value(attempt.baseline);
  if (name == "env_only") return Value(attempt.env_only);
  if (name == "value" && attempt.primary) return Value(attempt.primary->value);
  if (name == "ratio") return of_claim(&lab::Claim::ratio);
  if (name == "low") return of_claim(&lab::Claim::low);
  if (name == "high") return of_claim(&lab::Claim::high);
  if (name == "pairs" && attempt.claim)
    return Value(static_cast<std::int64_t>(attempt.claim->pairs));
  if (name == "usd" && attempt.cost) return Value(attempt.cost->usd);
  return std::nullopt;
}

// A condition over those names.
class Where {
 public:
  static Result<Where> parse(const std::string& text) {
    auto expression = Expression::parse(text);
    if (!expression)
      return fail(expression.error().code, "--where: {}", expression.error().message);
    const std::vector<std::string> known(kNames.begin(), kNames.end());
    for (const std::string& name : expression->names())
      if (std::ranges::find(known, name) == known.end())
        return fail(ErrorCode::invalid_input, "--where: an attempt has no '{}'{}",
                    sanitize(name, 60), did_you_mean(name, known, "it has " + join(known, ", ")));
    return Where(std::move(*expression));
  }

  // What an attempt lacks makes no condition true.
  Result<bool> holds(const lab::Attempt& attempt) const {
    std::vector<std::optional<Value>> values;
    for (const std::string& name : expression_.names()) values.push_back(value_at(attempt, name));
    std::vector<const Value*> places;
    for (const auto& value : values) places.push_back(value ? &*value : nullptr);
    const auto held = expression_.holds(places);
    if (!held) return fail(held.error().code, "--where: {}", held.error().message);
    return *held;
  }

 private:
  explicit Where(Expression expression) : expression_(std::move(expression)) {}
  Expression expression_;
};

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
    app.add_option(
           "--where", where_,
           "Only where this holds: \"family == 'tiles' and ratio > 1.01\"; names are seq, "
           "outcome, value, ratio, low, high, pairs, family, target, lane, run_tag, usd ...")
        .type_name("CONDITION");
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
    std::optional<Where> where;
    if (!where_.empty()) {
      ASSAY_TRY(where, Where::parse(where_));
    }
    std::vector<lab::Attempt> attempts;
    for (const lab::Attempt& attempt : content.attempts) {
      if (!is_wanted(attempt)) continue;
      bool holds = true;
      if (where) {
        ASSAY_TRY(holds, where->holds(attempt));
      }
      if (holds) attempts.push_back(attempt);
    }
    if (last_ > 0 && attempts.size() > static_cast<size_t>(last_))
      attempts.erase(attempts.begin(), attempts.end() - last_);
    context.console.result(context.console.json() ? json(place, attempts)
                           : tsv_                 ? tsv(attempts)
                                  : table(context.console, attempts, content.attempts.size()));
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

  static std::string table(const Console& console, const std::vector<lab::Attempt>& attempts,
                           size_t all) {
    if (attempts.empty() && all > 0)
      return fmt::format("no attempt is as was asked for, of {} in all\n", all);
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
  std::string run_tag_, family_, outcome_, where_;
  int last_ = 50;
  bool tsv_ = false;
};

}  // namespace

std::unique_ptr<Command> make_lab_history_command() {
  return std::make_unique<LabHistoryCommand>();
}

}  // namespace assay::cli
