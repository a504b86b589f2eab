#include "assay/sweep/journal.h"

#include <system_error>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "assay/base/clock.h"
#include "assay/base/hash.h"
#include "assay/base/text.h"

namespace assay::sweep {
namespace {

constexpr const char* kName = "journal.jsonl";
constexpr const char* kLock = ".lock";  // Held by whoever writes the journal.
constexpr std::string_view kSchema = "assay.journal/1";
constexpr size_t kMaxJournalBytes = size_t{1} << 30;

// The first thing in which two headers differ, in words.
std::string difference(const Json& before, const Json& now) {
  std::string names;
  for (const auto& [key, value] : now.items())
    if (!before.contains(key) || before[key] != value) names += (names.empty() ? "" : ", ") + key;
  return names.empty() ? "something" : names;
}

std::string set_aside_name(const std::filesystem::path& folder) {
  for (int n = 1;; ++n) {
    std::filesystem::path aside = folder;
    aside += fmt::format(".old{}", n);
    std::error_code ignored;
    if (!std::filesystem::exists(aside, ignored)) return aside.string();
  }
}

}  // namespace

Status Journal::check(const std::filesystem::path& folder, IfPresent if_present) {
  const std::filesystem::path path = folder / kName;
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored)) return {};
  if (if_present == IfPresent::refuse)
    return fail(ErrorCode::invalid_input,
                "{}: a run is here already; go on with it by --resume, or move it aside by --fresh",
                path.string());
  return FileLock::try_lock((folder / kLock).string()).map([](const FileLock&) {});
}

Result<Journal> Journal::open(const std::filesystem::path& folder, const Json& header,
                              IfPresent if_present) {
  ASSAY_TRY(check(folder, if_present));
  const std::filesystem::path path = folder / kName;
  std::error_code error;
  const bool present = std::filesystem::exists(path, error);
  std::vector<std::string> notes;
  if (present && if_present == IfPresent::fresh) {
    // Not while somebody is writing it.
    ASSAY_TRY(auto unused, FileLock::try_lock((folder / kLock).string()));
    const std::string aside = set_aside_name(folder);
    std::filesystem::rename(folder, aside, error);
    if (error)
      return fail(ErrorCode::machine, "{}: cannot be moved aside: {}", folder.string(),
                  error.message());
    notes.push_back(fmt::format("the run that was in {} is now in {}", folder.string(), aside));
  }
  if (!present && if_present == IfPresent::resume)
    notes.push_back(fmt::format("{} holds no run to resume: starting anew", folder.string()));
  ASSAY_TRY(make_directories(folder.string()));
  ASSAY_TRY(auto lock, FileLock::try_lock((folder / kLock).string()));

  std::vector<Json> earlier;
  std::string began;
  std::optional<uint64_t> keep_bytes;
  if (present && if_present == IfPresent::resume) {
    ASSAY_TRY(const std::string content, read_file(path.string(), kMaxJournalBytes));
    size_t at = 0;
    int line = 0;
    while (at < content.size()) {
      ++line;
      const size_t end = content.find('\n', at);
      auto parsed = end == std::string::npos
                        ? fail(ErrorCode::invalid_input, "torn")
                        : parse_json(std::string_view(content).substr(at, end - at),
                                     fmt::format("{}:{}", path.string(), line));
      if (!parsed) {
        // A crash tears the last line and no other.
        if (end != std::string::npos && end + 1 < content.size())
          return fail(ErrorCode::machine,
                      "{}:{}: the journal is damaged before its end ({}); start anew by --fresh",
                      path.string(), line, parsed.error().message);
        keep_bytes = at;
        notes.push_back(fmt::format("{}:{}: cut off a torn last line", path.string(), line));
        break;
      }
      if (line == 1) {
        if (!parsed->is_object() || parsed->value("schema", std::string()) != kSchema ||
            !parsed->contains("asked"))
          return fail(ErrorCode::invalid_input,
                      "{}:1: not a journal of this version ({}); start anew by --fresh",
                      path.string(), kSchema);
        if ((*parsed)["asked"] != header)
          return fail(ErrorCode::invalid_input,
                      "{}: that run was asked for something else (it differs in: {}); resume with "
                      "the same request, or start anew by --fresh",
                      path.string(), difference((*parsed)["asked"], header));
        began = parsed->value("began", std::string());
      } else {
        earlier.push_back(std::move(*parsed));
      }
      at = end + 1;
    }
  }
  ASSAY_TRY(auto file, AppendFile::open(path.string(), true));
  if (keep_bytes) ASSAY_TRY(file.truncate(*keep_bytes));
  Journal journal(std::move(lock), std::move(file));
  journal.earlier_ = std::move(earlier);
  journal.notes_ = std::move(notes);
  journal.began_ = began;
  ASSAY_TRY(const uint64_t size, journal.file_.size());
  if (size == 0) {
    journal.began_.clear();
    ASSAY_TRY(journal.add({{"schema", kSchema},
                           {"began", utc_now_iso8601()},
                           {"hash", sha256_hex(canonical(header))},
                           {"asked", header}}));
  }
  return journal;
}

Status Journal::add(const Json& line) { return file_.append_line(canonical(line)); }

}  // namespace assay::sweep
