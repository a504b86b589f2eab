#include "assay/lab/evaluate/program_runner.h"

#include <algorithm>
#include <memory>

#include "assay/base/clock.h"
#include "assay/base/file.h"
#include "assay/base/supervise.h"
#include "assay/base/text.h"

namespace assay::lab {
namespace {

constexpr int kLockFd = 9;  // In a program: beyond what shells take for their own redirections.
constexpr size_t kMostOutput = size_t{4} << 20;

// As a reader knows it: this program itself is called by its path.
std::string name_of(const std::vector<std::string>& words) {
  if (words[0] != "/proc/self/exe") return sanitize(words[0], 200);
  return "assay" + (words.size() > 1 ? ' ' + words[1] : std::string());
}

// What it said of its end, for a sentence: the first line with an error as compilers write it,
// whose last line is a mark below some code; else the last line.
std::string last_words(const CommandOutput& output) {
  const std::string_view text = trim(trim(output.err).empty() ? output.out : output.err);
  constexpr size_t kMost = 300;
  // ptxas: "ptxas my.ptx, line 12; error   : words".
  const size_t error =
      std::min({text.find("error:"), text.find("; error "), text.find("; fatal ")});
  const size_t last = text.rfind('\n');
  const size_t before = error == std::string_view::npos ? last : text.rfind('\n', error);
  std::string_view line = before == std::string_view::npos ? text : text.substr(before + 1);
  line = trim(line.substr(0, line.find('\n')));
  return line.empty() ? "" : ": " + sanitize(line, kMost);
}

std::string log_of(const std::vector<std::string>& words, const CommandOutput& output) {
  return fmt::format("$ {}\n{}\n--- stderr\n{}\n--- {}{}\n", join(words, " "), output.out,
                     output.err, output.timed_out ? "timed out" : output.status.describe(),
                     output.truncated ? "; the output was longer than is kept" : "");
}

}  // namespace

Result<ProgramRun> ProgramRunner::run(const std::string& label,
                                      const std::vector<std::string>& words,
                                      const std::filesystem::path& folder,
                                      const Environment& environment,
                                      double timeout_seconds) const {
  SubprocessOptions options;
  options.argv = words;
  options.env = options_.environment;
  for (const auto& [name, value] : environment) set_variable(options.env, name, value);
  options.working_directory = folder.string();
  if (options_.lock_fd >= 0) {
    options.extra_fds.push_back({kLockFd, options_.lock_fd});
    set_variable(options.env, "ASSAY_LOCK_FD", std::to_string(kLockFd));
  }
  CommandLimits limits;
  limits.timeout_ns = static_cast<int64_t>(timeout_seconds * static_cast<double>(kNsPerSecond));
  limits.max_output = kMostOutput;
  limits.cancel_fd = options_.cancel_fd;
  limits.input = options_.input;
  options.file_bytes = options_.disk_bytes;
  std::unique_ptr<DiskWatch> watch;
  if (options_.disk_bytes > 0) {
    std::vector<std::filesystem::path> folders = {folder, options_.logs};
    if (!options_.also_watched.empty()) folders.push_back(options_.also_watched);
    ASSAY_TRY(watch, DiskWatch::begin(std::move(folders),
                                      {.bytes = options_.disk_bytes, .looks = options_.disk_looks},
                                      options_.cancel_fd));
    limits.cancel_fd = watch->cancel_fd();
  }
  ProgramRun run;
  const int64_t began = monotonic_ns();
  auto output = run_supervised(options, limits, options_.supervisor);
  run.seconds = static_cast<double>(monotonic_ns() - began) / static_cast<double>(kNsPerSecond);
  const std::string filled = watch ? watch->finish() : std::string();
  if (!filled.empty() && (output || output.error().code == ErrorCode::interrupted)) {
    run.filled_disk = true;
    run.failure = AttemptOutcome::crash;
    run.reason = fmt::format("{} {} (limits of case.yaml)", name_of(words), filled);
    return run;
  }
  if (!output && output.error().code == ErrorCode::not_found) {
    run.failure = AttemptOutcome::crash;
    run.reason = output.error().message;
    return run;
  }
  if (!output && output.error().code == ErrorCode::interrupted)
    return fail(ErrorCode::interrupted, "stopped while {} was running", name_of(words));
  if (!output) return fail(output.error());
  if (!options_.logs.empty()) {
    ASSAY_TRY(make_directories(options_.logs.string()));
    ASSAY_TRY(
        write_file_atomic((options_.logs / (label + ".log")).string(), log_of(words, *output)));
  }
  run.out = output->out;
  run.exit_code = output->status.code;
  if (output->timed_out) {
    run.failure = AttemptOutcome::timeout;
    run.reason =
        fmt::format("{} took longer than {}", name_of(words), format_duration(timeout_seconds));
  } else if (!output->status.success()) {
    run.failure = AttemptOutcome::crash;
    run.reason =
        fmt::format("{} {}{}", name_of(words), output->status.describe(), last_words(*output));
  }
  return run;
}

}  // namespace assay::lab
