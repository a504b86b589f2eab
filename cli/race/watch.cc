#include "cli/race/watch.h"

#include <ctime>
#include <poll.h>
#include <set>

#include <fmt/format.h>

#include "assay/base/clock.h"
#include "assay/base/fd.h"
#include "assay/base/file.h"
#include "assay/base/text.h"
#include "assay/input/file_and_entry.h"
#include "assay/report/sweep_report.h"
#include "assay/report/words.h"
#include "cli/exit_code.h"
#include "cli/files/kernel_files.h"
#include "cli/files/source_copy.h"
#include "cli/files/user_files.h"
#include "cli/race/against.h"
#include "cli/show/race_text.h"
#include "cli/show/show_run.h"

namespace assay::cli {
namespace {

constexpr std::int64_t kLook = 300 * kNsPerMs;  // Between two looks at the files.
constexpr int kLooksUntilGone = 4;

std::string time_of_day() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  localtime_r(&now, &parts);
  return fmt::format("{:02}:{:02}:{:02}", parts.tm_hour, parts.tm_min, parts.tm_sec);
}

class Watch {
 public:
  Watch(Context& context, const sweep::Request& request, const std::string& file_and_entry)
      : context_(context),
        request_(request),
        file_and_entry_(file_and_entry),
        file_(input::split_entry(file_and_entry).file) {}

  Result<int> run() {
    ASSAY_TRY(auto aside, make_aside());
    aside_.emplace(std::move(aside));
    // The first version must be readable: a file that is not there is a typing error.
    ASSAY_TRY(read_sources(std::vector{file_and_entry_}).map([](const auto&) {}));
    while (true) {
      if (Status raced = race_present_version(); !raced) {
        if (raced.error().code == ErrorCode::interrupted) return kDone;
        if (raced.error().code != ErrorCode::invalid_input &&
            raced.error().code != ErrorCode::not_found)
          return fail(raced.error());
        context_.console.error(raced.error().message);
      }
      context_.console.note(
          fmt::format("watching {} (Ctrl-C ends)", sanitize(file_.string(), 200)));
      ASSAY_TRY(const bool changed, wait_for_change());
      if (!changed) return kDone;
    }
  }

 private:
  static Result<TemporaryDirectory> make_aside() {
    std::error_code error;
    const std::filesystem::path temporary = std::filesystem::temp_directory_path(error);
    return TemporaryDirectory::create(error ? "/tmp" : temporary.string(), "assay-watch-");
  }

  Status race_present_version() {
    present_.reset();
    ASSAY_TRY(const SourceCopy plain, SourceCopy::read(file_, {}));
    present_ = plain;
    std::vector<std::string> kernels = {file_and_entry_};
    if (previous_)
      kernels.push_back(
          input::FileAndEntry{*previous_, input::split_entry(file_and_entry_).entry}.text());
    for (size_t i = 1; i < request_.pool.kernels.size(); ++i)
      kernels.push_back(request_.pool.kernels[i].text());
    sweep::Request request = request_;
    ASSAY_TRY(request.pool.kernels, read_sources(kernels));
    present_ = SourceCopy::of(request.pool.kernels.front());
    const std::vector<UserFile> files = user_files(request.pool.kernels);
    request.question.subjects = files.front().families;
    ASSAY_TRY(const DeviceLock held, hold_device(context_, request));
    request.keep.folder = next_run_folder(stem_of(file_and_entry_));
    if (!opponents_.empty()) {
      KernelChoice& choice = request.pool.only.emplace_back();
      choice.ids.assign(opponents_.begin(), opponents_.end());
      for (const UserFile& file : files)
        choice.families.insert(choice.families.end(), file.families.begin(), file.families.end());
    }

    const Console& console = context_.console;
    const report::TextStyle style{console.width_out(), console.colour_out(),
                                  console.terminal_out()};
    context_.console.result(
        fmt::format("{}  {}\n", time_of_day(), sanitize(file_.filename().string(), 200)));
    sweep::Request mine = request;
    mine.pool.only = request_.pool.only;
    ASSAY_TRY(auto refused, find_refused_files(mine, std::span(request.pool.kernels).first(1)));
    call_by_stem(refused);
    std::erase_if(request.question.problems, [&](const Problem& problem) {
      return is_refused_by_all(refused, problem.name());
    });
    std::string text = refused_text(refused, style);
    if (!request.question.problems.empty()) {
      ASSAY_TRY(const FinishedRun run, run_request(context_, request, Keep::everything));
      text = report::race_text(run.record, {.style = style, .record_path = {}}) + text;
      for (const ProblemRecord& problem : run.record.problems) {
        text += evidence_text(problem, style);
        if (previous_) text += previous_line(problem, run.record, files, style);
        remember_opponents(problem);
      }
      text += line_text({"record", run.files.record}, style);
      if (all_stood(run.record, {files.front()})) ASSAY_TRY(keep_version());
    }
    context_.console.result(text + '\n');
    return {};
  }

  std::string previous_line(const ProblemRecord& problem, const RunRecord& record,
                            const std::vector<UserFile>& files,
                            const report::TextStyle& style) const {
    const auto against = verdict_against(
        problem, record.options,
        [&](const KernelOutcome& kernel) { return is_of(kernel, files[0]); },
        [&](const KernelOutcome& kernel) { return is_of(kernel, files[1]); });
    if (!against) return {};
    const std::string text = report::verdict_sentence(against->verdict, "the version before");
    return (record.problems.size() > 1 ? problem.name + '\n' : std::string()) +
           line_text({"previous", text}, style);
  }

  // From the second race on, the stock kernels that the first one confirmed stand for the pool: the
  // answer comes in seconds.
  void remember_opponents(const ProblemRecord& problem) {
    const Confirmation* confirmation = problem.decisive();
    if (confirmation == nullptr) return;
    for (const std::string& id : confirmation->finalists) {
      const KernelOutcome* kernel = problem.find(id);
      if (kernel != nullptr && kernel->role == KernelRole::stock)
        opponents_.insert(kernel->id.substr(0, kernel->id.find('#')));
    }
  }

  Status keep_version() {
    ASSAY_TRY(const auto path,
              present_->write(std::filesystem::path(aside_->path()) / fmt::to_string(++versions_)));
    previous_ = path.string();
    return {};
  }

  // False: the user stopped it. A file that is saved in two steps is waited for: what counts is a
  // state that two looks in a row saw, and that differs from the one raced last.
  Result<bool> wait_for_change() {
    const std::optional<SourceCopy> raced = present_;
    std::optional<SourceCopy> seen = raced;
    int absent = 0;  // Looks in a row.
    while (true) {
      const auto stop = wait_for_fd(context_.cancel_fd, POLLIN, monotonic_ns() + kLook);
      if (!stop) return fail(stop.error());
      if (*stop) return false;
      const std::vector<std::string> known = known_files();
      auto now = SourceCopy::read(file_, known);
      if (!now) {  // Once is between an editor's removing and renaming.
        if (++absent == kLooksUntilGone)
          context_.console.note(
              fmt::format("{}; it is raced again when it is back", now.error().message));
        continue;
      }
      absent = 0;
      const bool settled = seen && *now == *seen;
      seen = std::move(*now);
      if (settled && (!raced || !(*seen == *raced))) return true;
    }
  }

  std::vector<std::string> known_files() const {
    std::vector<std::string> files;
    if (present_)
      for (const auto& file : present_->files()) files.push_back(file.string());
    return files;
  }

  Context& context_;
  const sweep::Request& request_;
  std::string file_and_entry_;
  std::filesystem::path file_;
  std::optional<TemporaryDirectory> aside_;
  std::optional<SourceCopy> present_;    // What was read last.
  std::optional<std::string> previous_;  // Where the last version that stood lies.
  int versions_ = 0;
  std::set<std::string> opponents_;
};

}  // namespace

Result<int> watch_file(Context& context, const sweep::Request& request,
                       const std::string& file_and_entry) {
  return Watch(context, request, file_and_entry).run();
}

}  // namespace assay::cli
