#include "assay/lab/files/history.h"

#include <algorithm>
#include <charconv>
#include <unordered_map>

#include <nlohmann/json.hpp>

#include "assay/base/checked_line.h"
#include "assay/base/json.h"
#include "assay/base/text.h"
#include "assay/lab/files/history_index.h"

namespace assay::lab {
namespace {

constexpr const char* kName = "history.jsonl";
constexpr const char* kLock = ".lock";

std::string path_in(const std::filesystem::path& runs) { return (runs / kName).string(); }

Json start_line(const Attempt& attempt) {
  return {{"schema", kHistorySchema},
          {"type", "start"},
          {"id", attempt.id},
          {"seq", attempt.seq},
          {"run_tag", attempt.run_tag},
          {"series", attempt.series},
          {"parent", attempt.parent},
          {"tree", attempt.tree},
          {"env", attempt.env},
          {"env_only", attempt.env_only},
          {"lane", attempt.lane},
          {"family", attempt.family},
          {"target", attempt.target},
          {"description", attempt.description},
          {"hypothesis", attempt.hypothesis},
          {"started", attempt.started}};
}

Json json_of(const Cost& cost) { return {{"usd", cost.usd}, {"tokens", cost.tokens}}; }

std::optional<Cost> read_cost(const Json& line) {
  const auto found = line.find("cost");
  if (found == line.end()) return std::nullopt;
  return Cost{found->at("usd").get<double>(), found->at("tokens").get<int64_t>()};
}

Json end_line(const Attempt& attempt) {
  Json stages = Json::array();
  for (const auto& [name, outcome] : attempt.stages) stages.push_back({name, outcome});
  Json line = {{"schema", kHistorySchema},
               {"type", "end"},
               {"id", attempt.id},
               {"seq", attempt.seq},
               {"run_tag", attempt.run_tag},
               {"state", to_string(attempt.outcome.value_or(AttemptOutcome::interrupted))},
               {"reason", attempt.reason},
               {"stages", std::move(stages)},
               {"primary", nullptr},
               {"claim", nullptr},
               {"baseline", attempt.baseline},
               {"record", attempt.record},
               {"ended", attempt.ended}};
  if (attempt.cost) line["cost"] = json_of(*attempt.cost);
  if (attempt.primary)
    line["primary"] = {{"key", attempt.primary->key},
                       {"value", attempt.primary->value},
                       {"unit", attempt.primary->unit}};
  if (attempt.claim)
    line["claim"] = {{"word", attempt.claim->word},
                     {"ratio", attempt.claim->ratio},
                     {"low", attempt.claim->low},
                     {"high", attempt.claim->high},
                     {"pairs", attempt.claim->pairs}};
  return line;
}

Status check_line(const JsonField& root) {
  ASSAY_TRY(const JsonField schema, root.at("schema"));
  ASSAY_TRY(const std::string text, schema.as_string());
  if (text == kHistorySchema) return {};
  return fail(schema.error(ErrorCode::machine, "not a line of this version"));
}

std::string text_in(const Json& line, const char* key) {
  const auto found = line.find(key);
  return found != line.end() && found->is_string() ? found->get<std::string>() : std::string();
}

Attempt read_start(const Json& line) {
  Attempt attempt;
  attempt.id = text_in(line, "id");
  attempt.seq = line.at("seq").get<int64_t>();
  for (const auto& [key, field] :
       {std::pair<const char*, std::string*>{"run_tag", &attempt.run_tag},
        {"series", &attempt.series},
        {"parent", &attempt.parent},
        {"tree", &attempt.tree},
        {"lane", &attempt.lane},
        {"family", &attempt.family},
        {"target", &attempt.target},
        {"description", &attempt.description},
        {"hypothesis", &attempt.hypothesis},
        {"started", &attempt.started}})
    *field = text_in(line, key);
  attempt.env = line.at("env").get<std::map<std::string, std::string>>();
  attempt.env_only = line.at("env_only").get<bool>();
  return attempt;
}

Status read_end(const Json& line, Attempt& attempt) {
  ASSAY_TRY(attempt.outcome, parse_attempt_outcome(text_in(line, "state")));
  attempt.reason = text_in(line, "reason");
  attempt.ended = text_in(line, "ended");
  attempt.record = text_in(line, "record");
  attempt.baseline = line.at("baseline").get<bool>();
  attempt.cost = read_cost(line);
  for (const Json& stage : line.at("stages"))
    attempt.stages.emplace_back(stage.at(0).get<std::string>(), stage.at(1).get<std::string>());
  if (const Json& primary = line.at("primary"); !primary.is_null())
    attempt.primary =
        Primary{primary.at("key").get<std::string>(), primary.at("value").get<double>(),
                primary.at("unit").get<std::string>()};
  if (const Json& claim = line.at("claim"); !claim.is_null())
    attempt.claim = Claim{claim.at("word").get<std::string>(), claim.at("ratio").get<double>(),
                          claim.at("low").get<double>(),
                          claim.at("high").is_null() ? 0 : claim.at("high").get<double>(),
                          claim.at("pairs").get<int>()};
  return {};
}

class HistoryReader {
 public:
  explicit HistoryReader(HistoryContent known) : content(std::move(known)) {}

  Status take(std::string_view text, const std::string& origin) {
    if (!has_its_check(text))
      return fail(ErrorCode::machine, "it is not what its checksum was made of");
    ASSAY_TRY(const JsonDocument document, parse_json_document(text, origin));
    ASSAY_TRY(check_line(JsonField(document)));
    try {
      return place(document.root);
    } catch (const Json::exception&) {
      return fail(ErrorCode::machine, "it lacks what a line of its type has");
    }
  }
  HistoryContent content;

 private:
  Status place(const Json& line) {
    const std::string type = text_in(line, "type");
    if (by_id_.empty())
      for (size_t i = 0; i < content.attempts.size(); ++i) by_id_[content.attempts[i].id] = i;
    if (type == "start") {
      by_id_[text_in(line, "id")] = content.attempts.size();
      content.attempts.push_back(read_start(line));
    } else if (type == "end") {
      const auto found = by_id_.find(text_in(line, "id"));
      if (found == by_id_.end()) return fail(ErrorCode::machine, "it ends what was not started");
      return read_end(line, content.attempts[found->second]);
    } else if (type == "skip") {
      content.skips.push_back({text_in(line, "run_tag"), text_in(line, "reason"),
                               text_in(line, "of"), text_in(line, "at"), read_cost(line)});
    }
    return {};  // Types of later versions are theirs.
  }

  std::unordered_map<std::string, size_t> by_id_;
};

}  // namespace

const Attempt* HistoryContent::incumbent(std::string_view series) const {
  for (auto attempt = attempts.rbegin(); attempt != attempts.rend(); ++attempt)
    if (attempt->series == series && attempt->outcome == AttemptOutcome::keep && !attempt->env_only)
      return &*attempt;
  return nullptr;
}

const Attempt* HistoryContent::find(std::string_view name) const {
  int64_t seq = 0;
  const auto [end, fault] = std::from_chars(name.data(), name.data() + name.size(), seq);
  const bool is_number = fault == std::errc() && end == name.data() + name.size();
  const Attempt* found = nullptr;
  for (const Attempt& attempt : attempts) {
    if (attempt.id == name || (is_number && attempt.seq == seq)) return &attempt;
    if (name.size() < 6 || !attempt.id.starts_with(name)) continue;
    if (found != nullptr) return nullptr;
    found = &attempt;
  }
  return found;
}

Cost HistoryContent::cost_of(std::string_view run_tag) const {
  Cost all;
  const auto add = [&](const auto& turn) {
    if (!turn.cost || turn.run_tag != run_tag) return;
    all.usd += turn.cost->usd;
    all.tokens += turn.cost->tokens;
  };
  std::ranges::for_each(attempts, add);
  std::ranges::for_each(skips, add);
  return all;
}

namespace {

constexpr std::uint64_t kWorthAnIndex = 2000;  // Lines that were parsed: about 20 ms.

// Goes on behind what is known.
Result<HistoryIndex> read_from(const std::filesystem::path& runs, HistoryIndex known) {
  const std::string path = path_in(runs);
  ASSAY_TRY(auto lines, LineReader::open(path, known.bytes));
  HistoryReader reader(std::move(known.content));
  for (;;) {
    ASSAY_TRY(const auto line, lines.next());
    if (!line) break;
    if (!line->whole) {
      reader.content.torn_at = line->at;
      break;
    }
    if (const Status taken = reader.take(line->text, path); !taken)
      return fail(
          ErrorCode::machine,
          "{}:{}: the history is damaged ({}); it was left as it is: `head -n {} {}` is what "
          "came before",
          path, known.lines + 1, taken.error().message, known.lines, path);
    ++known.lines;
    known.bytes = line->at + line->text.size() + 1;
  }
  return HistoryIndex{std::move(reader.content), known.bytes, known.lines};
}

}  // namespace

Result<HistoryContent> read_history(const std::filesystem::path& runs,
                                    const std::filesystem::path& index) {
  std::error_code ignored;
  if (!std::filesystem::exists(path_in(runs), ignored)) return HistoryContent();
  std::optional<HistoryIndex> known;
  if (!index.empty()) known = load_history_index(index, path_in(runs));
  const std::uint64_t before = known ? known->lines : 0;
  ASSAY_TRY(HistoryIndex read, read_from(runs, std::move(known).value_or(HistoryIndex())));
  // Without an index it only takes longer.
  if (!index.empty() && read.lines - before >= kWorthAnIndex)
    (void)save_history_index(index, path_in(runs), read);
  return std::move(read.content);
}

Result<HistoryContent> reindex_history(const std::filesystem::path& runs,
                                       const std::filesystem::path& index) {
  std::error_code ignored;
  if (!std::filesystem::exists(path_in(runs), ignored)) return HistoryContent();
  ASSAY_TRY(HistoryIndex read, read_from(runs, {}));
  ASSAY_TRY(save_history_index(index, path_in(runs), read));
  return std::move(read.content);
}

Result<History> History::open(const std::filesystem::path& runs,
                              const std::filesystem::path& index) {
  ASSAY_TRY(make_directories(runs.string()));
  auto lock = FileLock::try_lock((runs / kLock).string());
  if (!lock && lock.error().code == ErrorCode::busy)
    return fail(ErrorCode::busy, "another command adds to this case's history: {}",
                lock.error().message);
  if (!lock) return fail(std::move(lock).error());
  ASSAY_TRY(HistoryContent content, read_history(runs, index));
  ASSAY_TRY(AppendFile file, AppendFile::open(path_in(runs), true));
  History history(std::move(*lock), std::move(file));
  history.content_ = std::move(content);
  if (history.content_.torn_at) {
    ASSAY_TRY(history.file_.truncate(*history.content_.torn_at));
    history.notes_.push_back(fmt::format("{}: cut off a torn last line", path_in(runs)));
    history.content_.torn_at.reset();
  }
  return history;
}

Status History::add(const Json& line) {
  const std::string text = with_check(canonical(line));
  if (text.size() > kMostLineBytes)
    return fail(ErrorCode::internal, "a line of the history has {} bytes, {} at most", text.size(),
                kMostLineBytes);
  return file_.append_line(text);
}

Status History::start(const Attempt& attempt) {
  Attempt shortened = attempt;
  for (std::string* text : {&shortened.hypothesis, &shortened.description})
    while (with_check(canonical(start_line(shortened))).size() > kMostLineBytes && text->size() > 8)
      *text = sanitize(*text, text->size() / 2);
  const Json line = start_line(shortened);
  if (with_check(canonical(line)).size() > kMostLineBytes)
    return fail(ErrorCode::invalid_input,
                "what names this attempt is too long for a line of the history; shorten --env, "
                "--family, --target or --run-tag");
  ASSAY_TRY(add(line));
  content_.attempts.push_back(attempt);
  return {};
}

Status History::end(const Attempt& attempt) {
  Attempt shortened = attempt;
  // The record has all of it.
  constexpr size_t kMostReason = 240;
  shortened.reason = sanitize(attempt.reason, kMostReason);
  ASSAY_TRY(add(end_line(shortened)));
  for (Attempt& known : content_.attempts)
    if (known.id == attempt.id) known = attempt;
  return {};
}

Status History::skip(const Skip& skip) {
  Json line = {{"schema", kHistorySchema},
               {"type", "skip"},
               {"run_tag", skip.run_tag},
               {"reason", sanitize(skip.reason, 300)},
               {"of", skip.of},
               {"at", skip.at}};
  if (skip.cost) line["cost"] = json_of(*skip.cost);
  ASSAY_TRY(add(line));
  content_.skips.push_back(skip);
  return {};
}

}  // namespace assay::lab
