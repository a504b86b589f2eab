#include "assay/lab/climb/attempt_note.h"

#include "assay/base/text.h"
#include "assay/lab/evaluate/attempt_plan.h"
#include "assay/lab/files/form_pieces.h"

namespace assay::lab {
namespace {

// Of what an agent wrote as much as a line of the history holds.
Result<std::string> short_text(const input::YamlField& root, const char* key, size_t most) {
  ASSAY_TRY(const std::string text, text_or(root, key, ""));
  return sanitize(text, most);
}

Result<std::string> name_at(const input::YamlField& root, const char* key) {
  ASSAY_TRY(std::string text, text_or(root, key, ""));
  constexpr size_t kMost = 60;
  if (text.empty() || (matches_name_rule(text) && text.size() <= kMost)) return text;
  return fail(
      root.error(fmt::format("{}: letters, digits, _, . and - alone, {} at most", key, kMost)));
}

constexpr double kMostUsd = 1e9;
constexpr int64_t kMostTokens = 1'000'000'000'000;

const Form& cost_form() {
  static const Form form = Form::fields({{"usd", Form::number(0, kMostUsd)},
                                         {"tokens_in", Form::integer(0, kMostTokens)},
                                         {"tokens_out", Form::integer(0, kMostTokens)}});
  return form;
}

const Form& note_form() {
  const Form name = Form::text("^[A-Za-z0-9_.-]{0,60}$");
  static const Form form =
      Form::fields({{"description", Form::text()},
                    {"hypothesis", Form::text()},
                    {"family", name},
                    {"target", name},
                    {"lane", name, Need::optional, "One of the case's lanes."},
                    {"env", environment_form(), Need::optional, "Variables that the case allows."},
                    {"cost", cost_form()}});
  return form;
}

Result<std::optional<Cost>> read_cost(const input::YamlField& root) {
  ASSAY_TRY(const auto field, root.find("cost"));
  if (!field) return std::optional<Cost>();
  ASSAY_TRY(only(*field, cost_form()));
  Cost cost;
  ASSAY_TRY(const auto usd, field->find("usd"));
  if (usd) {
    ASSAY_TRY(cost.usd, usd->as_double(0, kMostUsd));
  }
  for (const char* key : {"tokens_in", "tokens_out"}) {
    ASSAY_TRY(const auto tokens, field->find(key));
    if (!tokens) continue;
    ASSAY_TRY(const int64_t count, tokens->as_int64(0, kMostTokens));
    cost.tokens += count;
  }
  return std::optional(cost);
}

}  // namespace

Json attempt_note_schema() {
  return input::file_schema("What an agent says of its attempt (the file that ASSAY_ATTEMPT names)",
                            note_form());
}

Result<AttemptNote> read_attempt_note(const std::filesystem::path& path, const Case& target) {
  AttemptNote note;
  std::error_code ignored;
  // A link would be read with rights that an agent may not have, and what is wrong in a note is
  // told to the next turn.
  const auto facts = std::filesystem::symlink_status(path, ignored);
  if (std::filesystem::is_symlink(facts))
    return fail(ErrorCode::invalid_input, "'{}' is a link, but must be a file",
                path.filename().string());
  if (!std::filesystem::exists(facts)) return note;
  constexpr size_t kMostBytes = size_t{64} << 10, kDescription = 190, kHypothesis = 290;
  ASSAY_TRY(const auto root, input::read_yaml(path, {.bytes = kMostBytes}));
  ASSAY_TRY(only(root, note_form()));
  ASSAY_TRY(note.description, short_text(root, "description", kDescription));
  ASSAY_TRY(note.hypothesis, short_text(root, "hypothesis", kHypothesis));
  ASSAY_TRY(note.family, name_at(root, "family"));
  ASSAY_TRY(note.target, name_at(root, "target"));
  ASSAY_TRY(note.lane, name_at(root, "lane"));
  ASSAY_TRY(note.cost, read_cost(root));
  if (!note.lane.empty() && !target.lanes.contains(note.lane))
    return fail(root.error(fmt::format("lane: case.yaml has no '{}'", note.lane)));
  ASSAY_TRY(const auto environment, root.find("env"));
  if (!environment) return note;
  ASSAY_TRY(note.environment, as_environment(*environment));
  std::vector<std::string> words;
  for (const auto& [name, value] : note.environment) words.push_back(name + '=' + value);
  ASSAY_TRY(note.environment, parse_overrides(words, target.allowed_variables));
  ASSAY_TRY(const AttemptPlan plan, plan_of(target, note.lane));
  if (const Status status = check_variables(target, plan, note.environment); !status)
    return fail(with_context(status.error(), "env"));
  return note;
}

}  // namespace assay::lab
