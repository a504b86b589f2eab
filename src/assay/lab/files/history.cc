#include "assay/lab/files/history.h"

#include <algorithm>
#include <charconv>
#include <unordered_map>

#include <nlohmann/json.hpp>

#include "assay/base/checked_line.h"
#include "assay/base/json.h"
#include "assay/base/text.h"
#include "assay/lab/files/history_index.h"
#include "assay/lab/files/history_lines.h"

namespace assay::lab {
namespace {

constexpr const char* kName = "history.jsonl";
constexpr const char* kLock = ".lock";

std::string path_in(const std::filesystem::path& runs) { return (runs / kName).string(); }

class HistoryReader {
 public:
  explicit HistoryReader(HistoryContent known) : content(std::move(known)) {}

  Status take(std::string_view text, const std::string& origin) {
    if (!has_its_check(text))
      return fail(ErrorCode::machine, "it is not what its checksum was made of");
    ASSAY_TRY(const JsonDocument document, parse_json_document(text, origin));
    return place(JsonField(document));
  }
  HistoryContent content;

 private:
  Status place(const JsonField& line) {
    ASSAY_TRY(const std::string type, line_type(line));
    if (by_id_.empty())
      for (size_t i = 0; i < content.attempts.size(); ++i) by_id_[content.attempts[i].id] = i;
    if (type == "start") {
      ASSAY_TRY(Attempt attempt, read_start(line));
      by_id_[attempt.id] = content.attempts.size();
      content.attempts.push_back(std::move(attempt));
    } else if (type == "end") {
      ASSAY_TRY(const JsonField id, line.at("id"));
      ASSAY_TRY(const std::string name, id.as_string());
      const auto found = by_id_.find(name);
      if (found == by_id_.end()) return fail(ErrorCode::machine, "it ends what was not started");
      return read_end(line, content.attempts[found->second]);
    } else if (type == "skip") {
      ASSAY_TRY(content.skips.emplace_back(), read_skip(line));
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

Result<History> History::open(const std::filesystem::path& runs, const std::filesystem::path& index,
                              const std::optional<FileLock::Wait>& wait) {
  ASSAY_TRY(make_directories(runs.string()));
  const std::string path = (runs / kLock).string();
  auto lock = wait ? FileLock::lock(path, *wait) : FileLock::try_lock(path);
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
  Skip shortened = skip;
  shortened.reason = sanitize(skip.reason, 300);
  ASSAY_TRY(add(skip_line(shortened)));
  content_.skips.push_back(skip);
  return {};
}

}  // namespace assay::lab
