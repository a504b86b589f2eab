#pragma once

// Programs that an attempt starts: behind a supervisor, with a time limit, in an environment of
// known names, their output kept in the attempt's folder.

#include <filesystem>
#include <string>
#include <vector>

#include "assay/base/result.h"
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
};

struct RunnerOptions {
  std::vector<std::string> environment;  // "NAME=value": what every program gets.
  std::string supervisor = "/proc/self/exe";
  std::filesystem::path logs;
  int cancel_fd = -1;
  std::string input;  // For stdin; empty: nothing is there.
  // By which the device's lock is held: a program that measures by assay does not wait for it. -1:
  // it is not.
  int lock_fd = -1;
};

class ProgramRunner {
 public:
  explicit ProgramRunner(RunnerOptions options) : options_(std::move(options)) {}

  // `label` names its log. Errors: interrupted; machine. A program that is not there has failed.
  Result<ProgramRun> run(const std::string& label, const std::vector<std::string>& words,
                         const std::filesystem::path& folder, const Environment& environment,
                         double timeout_seconds) const;

 private:
  RunnerOptions options_;
};

}  // namespace assay::lab
