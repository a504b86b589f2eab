#pragma once

// Programs that an attempt starts: behind a supervisor, with a time limit, in an environment of
// known names, their output kept in the attempt's folder.

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "assay/base/result.h"
#include "assay/lab/evaluate/disk_watch.h"
#include "assay/lab/files/environment_rules.h"
#include "assay/record/attempt.h"

namespace assay::lab {

struct ProgramRun {
  // Why it did not do what it was for; none where it ended with 0.
  std::optional<AttemptOutcome> failure;  // crash or timeout.
  std::string reason;
  int exit_code = 0;
  std::string out;
  double seconds = 0;
  bool filled_disk = false;  // It was ended for that.
};

// The value of a variable that has a key; empty: it is not set.
using ReadKey = std::function<Result<std::string>(const std::string& name)>;

struct RunnerOptions {
  std::vector<std::string> environment;  // "NAME=value": what every program gets.
  std::string supervisor = "/proc/self/exe";
  std::filesystem::path logs;
  int cancel_fd = -1;
  std::string input;  // For stdin; empty: nothing is there.
  // By which the device's lock is held: a program that measures by assay does not wait for it. -1:
  // it is not.
  int lock_fd = -1;
  ReadKey read_key;                    // For benchmarks that name one; null: there are none.
  std::filesystem::path also_watched;  // A folder for `disk_bytes`; empty: none.
  // No file that a program writes is larger, nor all that it adds below its folder and `logs`. 0:
  // as much as it likes.
  std::uint64_t disk_bytes = 0;
  DiskLooks disk_looks = DiskLooks::free_alone;
};

class ProgramRunner {
 public:
  explicit ProgramRunner(RunnerOptions options) : options_(std::move(options)) {}

  // `label` names its log. Errors: interrupted; machine. A program that is not there has failed.
  Result<std::string> key(const std::string& name) const {
    return options_.read_key ? options_.read_key(name) : std::string();
  }

  Result<ProgramRun> run(const std::string& label, const std::vector<std::string>& words,
                         const std::filesystem::path& folder, const Environment& environment,
                         double timeout_seconds) const;

 private:
  RunnerOptions options_;
};

}  // namespace assay::lab
