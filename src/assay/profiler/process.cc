#include "assay/profiler/process.h"

#include <algorithm>
#include <fcntl.h>
#include <filesystem>
#include <optional>
#include <poll.h>

#include <fmt/format.h>

#include "assay/base/clock.h"
#include "assay/base/file.h"
#include "assay/base/subprocess.h"
#include "assay/base/text.h"

namespace assay::profiler {
namespace {

namespace fs = std::filesystem;

// How often it is looked at; its end is seen at once.
constexpr std::int64_t kLookNs = 100 * kNsPerMs;
constexpr std::uint64_t kMostLogBytes = 256ull << 20;  // More is a program that has gone wild.
constexpr std::size_t kLastWordsBytes = 240;

std::uint64_t size_of(const fs::path& file) {
  std::error_code error;
  const auto size = fs::file_size(file, error);
  return error ? 0 : size;
}

// The file that became the report: the tool puts the operation's kind into the name, others may
// not.
std::optional<fs::path> find_report(const fs::path& folder) {
  std::vector<fs::path> found;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error))
    if (entry.path().extension() == ".csv") found.push_back(entry.path());
  const auto gemm = std::ranges::find(found, "report.gemm.csv", &fs::path::filename);
  if (gemm != found.end()) return *gemm;
  return found.size() == 1 ? std::optional(found.front()) : std::nullopt;
}

// The last two lines of a log from `from` on that hold words: what a program that falls says.
std::string last_words(const std::string& log, std::uint64_t from) {
  const auto text = read_file(log, kMostLogBytes + (16u << 20));
  if (!text || text->size() <= from) return {};
  std::vector<std::string> lines;
  for (const std::string_view line : split(std::string_view(*text).substr(from), '\n')) {
    const std::string_view words = trim(line);
    if (words.empty()) continue;
    if (lines.size() == 2) lines.erase(lines.begin());
    lines.push_back(sanitize(words, kLastWordsBytes));
  }
  return join(lines, "; ");
}

std::string ending(const ExitStatus& status) {
  if (status.success()) return {};
  return (status.kind == ExitStatus::Kind::signaled ? "was " : "") + status.describe();
}

// Waits for the end, or for what ends it. A sentence where it did not end well.
class Watch {
 public:
  Watch(Subprocess& process, const ProcessOptions& options, const fs::path& folder,
        const std::function<void(std::size_t)>& rows)
      : process_(process), options_(options), folder_(folder), rows_(rows) {}

  Result<std::string> until_end() {
    std::int64_t grew_at = monotonic_ns();
    const std::uint64_t log_before = size_of(options_.log);
    while (true) {
      ASSAY_TRY(const ExitStatus status, process_.wait(kLookNs));
      const bool grew = look();
      if (!status.running()) return ending(status);
      if (stopped()) {
        ASSAY_TRY(process_.terminate());
        return fail(ErrorCode::interrupted, "stopped while cutlass_profiler was running");
      }
      const std::int64_t now = monotonic_ns();
      if (grew) grew_at = now;
      std::string why;
      if (static_cast<double>(now - grew_at) > options_.silence_seconds * 1e9)
        why = fmt::format("was stopped: it had said nothing for {}",
                          format_duration(options_.silence_seconds));
      if (log_ > log_before + kMostLogBytes)
        why = fmt::format("was stopped: it had printed more than {}", format_bytes(kMostLogBytes));
      if (why.empty()) continue;
      ASSAY_TRY(process_.terminate());
      look();
      return why;
    }
  }

 private:
  bool stopped() const {
    pollfd entry{options_.cancel_fd, POLLIN, 0};
    return options_.cancel_fd >= 0 && ::poll(&entry, 1, 0) > 0;
  }

  // Whether it has written anything since.
  bool look() {
    const std::uint64_t log = size_of(options_.log);
    const auto file = find_report(folder_);
    const std::uint64_t report = file ? size_of(*file) : 0;
    const bool grew = log != log_ || report != report_;
    if (rows_ && report != report_) {
      if (const auto text = read_file(file->string())) {
        const auto lines = static_cast<std::size_t>(std::ranges::count(*text, '\n'));
        if (lines > 1) rows_(lines - 1);
      }
    }
    log_ = log;
    report_ = report;
    return grew;
  }

  Subprocess& process_;
  const ProcessOptions& options_;
  fs::path folder_;
  const std::function<void(std::size_t)>& rows_;
  std::uint64_t log_ = 0, report_ = 0;
};

}  // namespace

Result<ProcessResult> run_process(const ProcessOptions& options,
                                  const std::function<void(std::size_t)>& rows) {
  ASSAY_TRY(const TemporaryDirectory folder, TemporaryDirectory::create());
  const UniqueFd log(::open(options.log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666));
  if (!log)
    return fail(ErrorCode::machine, "{}: cannot be written: {}", sanitize(options.log, 300),
                errno_text(errno));
  SubprocessOptions start;
  start.argv = {options.binary};
  start.argv.insert(start.argv.end(), options.arguments.begin(), options.arguments.end());
  ASSAY_TRY(write_all(log.get(), "$ " + join(start.argv, " ") + "\n"));
  start.argv.push_back("--output=" + folder.file("report.csv"));
  start.env = options.environment;
  start.stdout_to = start.stderr_to = Redirect::fd(log.get());
  const std::uint64_t before = size_of(options.log);
  const std::int64_t began = monotonic_ns();
  ProcessResult result;
  {
    auto process = Subprocess::start(start);
    if (!process) {
      result.failure = "cannot be started";
      ASSAY_TRY(write_all(log.get(), process.error().message + "\n"));
    } else {
      ASSAY_TRY(result.failure, Watch(*process, options, folder.path(), rows).until_end());
    }
  }
  result.seconds = static_cast<double>(monotonic_ns() - began) * 1e-9;
  if (const auto file = find_report(folder.path())) {
    auto text = read_file(file->string());
    if (text)
      result.report = std::move(*text);
    else if (result.failure.empty())
      result.failure = "left a report that cannot be read: " + text.error().message;
  }
  const std::string said = last_words(options.log, before);
  ASSAY_TRY(write_all(log.get(), fmt::format("\n# {} after {}\n",
                                             result.failure.empty() ? "ended well" : result.failure,
                                             format_duration(result.seconds))));
  if (!result.failure.empty())
    result.failure += said.empty() ? ", and printed nothing" : ": " + said;
  return result;
}

}  // namespace assay::profiler
