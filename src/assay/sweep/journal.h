#pragma once

// The journal: append-only, fsynced, one JSON line for each finished stage. Resuming loses nothing
// and repeats nothing that was finished; only a torn last line is cut off, and said.

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "assay/base/file.h"
#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/sweep/sweep.h"

namespace assay::sweep {

class Journal {
 public:
  // What open() would refuse whatever the header, without touching anything: a run that is there,
  // or one that somebody else is writing.
  static Status check(const std::filesystem::path& folder, IfPresent if_present);

  // header: what was asked; resuming with another one is refused with what differs.
  static Result<Journal> open(const std::filesystem::path& folder, const Json& header,
                              IfPresent if_present);

  Status add(const Json& line);

  // Of an earlier run that is being resumed: lines without the header, in order.
  const std::vector<Json>& earlier() const { return earlier_; }
  // What the user should know about the opening: "cut a torn last line", "nothing to resume".
  const std::vector<std::string>& notes() const { return notes_; }
  // When the run that is resumed began; empty for a new one.
  const std::string& began() const { return began_; }

 private:
  Journal(FileLock lock, AppendFile file) : lock_(std::move(lock)), file_(std::move(file)) {}
  FileLock lock_;
  AppendFile file_;
  std::vector<Json> earlier_;
  std::vector<std::string> notes_;
  std::string began_;
};

}  // namespace assay::sweep
