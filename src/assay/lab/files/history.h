#pragma once

// runs/history.jsonl: what was tried in a case, one checked line for the start of an attempt and
// one for its end. Lines are appended and never edited; each is on the disk before the next step.

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "assay/base/file.h"
#include "assay/base/json_fwd.h"
#include "assay/base/result.h"
#include "assay/record/attempt.h"

namespace assay::lab {

inline constexpr std::string_view kHistorySchema = "assay.attempt/1";
inline constexpr size_t kMostLineBytes = 1024;

struct Primary {
  std::string key;
  double value = 0;
  std::string unit;
};

struct Claim {
  std::string word;
  double ratio = 1, low = 0, high = 0;  // high 0: no interval.
  int pairs = 0;
};

// What an agent says that its turn cost.
struct Cost {
  double usd = 0;
  int64_t tokens = 0;
};

// The start of an attempt and, once there is one, its end.
struct Attempt {
  std::string id;
  int64_t seq = 0;
  std::string run_tag, series, parent, tree, lane, family, target, description, hypothesis, started;
  std::map<std::string, std::string> env;
  bool env_only = false;

  std::optional<AttemptOutcome> outcome;  // None while it runs, or where it was killed.
  std::string reason, ended, record;      // record: its path within runs/.
  std::vector<std::pair<std::string, std::string>> stages;
  std::optional<Primary> primary;
  std::optional<Claim> claim;
  bool baseline = false;
  std::optional<Cost> cost;  // None where its agent does not say.
  bool by_hand = false;      // Of `lab eval`: no turn of a climb. Older lines do not say it.
};

// A turn that made no attempt.
struct Skip {
  std::string run_tag, reason, of, at;
  std::optional<Cost> cost;
  bool by_hand = false;
};

struct HistoryContent {
  std::vector<Attempt> attempts;  // As they were started.
  std::vector<Skip> skips;
  std::optional<uint64_t> torn_at;  // Where a last line that a crash tore begins.

  int64_t next_seq() const { return attempts.empty() ? 1 : attempts.back().seq + 1; }
  // The best kept state of a series: the last attempt that was kept and changed more than the
  // environment; null where there is none.
  const Attempt* incumbent(std::string_view series) const;
  // By its id, the first characters of it, or its number; null where none or several fit.
  const Attempt* find(std::string_view name) const;
  Cost cost_of(std::string_view run_tag) const;  // Of all turns, as far as it was said.
};

// Damage anywhere but in the last line is ErrorCode::machine, with the line. `index`: where what
// was read before lies, and is put where that is worth it (history_index.h); empty: nowhere.
Result<HistoryContent> read_history(const std::filesystem::path& runs,
                                    const std::filesystem::path& index = {});

// Reads every line, and makes the index anew.
Result<HistoryContent> reindex_history(const std::filesystem::path& runs,
                                       const std::filesystem::path& index);

// For whoever adds to it: one at a time for a case.
class History {
 public:
  // Where another command adds to it: waits, or without a `wait` busy. Cuts off a torn last line.
  static Result<History> open(const std::filesystem::path& runs,
                              const std::filesystem::path& index = {},
                              const std::optional<FileLock::Wait>& wait = std::nullopt);

  const HistoryContent& content() const { return content_; }
  const std::vector<std::string>& notes() const { return notes_; }

  Status start(const Attempt& attempt);
  Status end(const Attempt& attempt);
  Status skip(const Skip& skip);

 private:
  History(FileLock lock, AppendFile file) : lock_(std::move(lock)), file_(std::move(file)) {}
  Status add(const Json& line);

  FileLock lock_;
  AppendFile file_;
  HistoryContent content_;
  std::vector<std::string> notes_;
};

}  // namespace assay::lab
