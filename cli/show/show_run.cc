#include "cli/show/show_run.h"

#include <algorithm>
#include <memory>

#include <fmt/format.h>

#include "assay/base/text.h"
#include "cli/exit_code.h"
#include "cli/files/kernel_copies.h"
#include "cli/files/run_files.h"
#include "cli/show/lock_wait.h"
#include "cli/show/progress.h"

namespace assay::cli {
namespace {

// Hands everything on. It sets the users' files aside, writes the log of each shape that is done,
// and keeps what the run's end is told by.
class RunFiles : public sweep::Observer {
 public:
  RunFiles(sweep::Observer& next, const std::filesystem::path& folder, const KernelCopies& kernels)
      : next_(next), folder_(folder), kernels_(kernels) {}

  void on_begin(const Environment& environment, const std::vector<Problem>& problems) override {
    status_ = kernels_.write(folder_);
    next_.on_begin(environment, problems);
  }
  void on_ceilings(const std::vector<Ceiling>& ceilings) override { next_.on_ceilings(ceilings); }
  void on_problem(size_t index, const Problem& problem,
                  const measure::Condition& condition) override {
    next_.on_problem(index, problem, condition);
  }
  void on_stage(const std::string& stage, size_t done, size_t total,
                const std::string& what) override {
    next_.on_stage(stage, done, total, what);
  }
  void on_standings(int round, const std::vector<sweep::Standing>& standings) override {
    next_.on_standings(round, standings);
  }
  void on_note(const std::string& sentence) override { next_.on_note(sentence); }
  void on_problem_done(size_t index, const ProblemRecord& record, bool from_journal) override {
    if (status_) status_ = write_problem_log(record, folder_);
    best_.add(record, "record.json");
    any_launched_ |= std::ranges::any_of(record.kernels, was_launched);
    next_.on_problem_done(index, record, from_journal);
  }

  const Status& status() const { return status_; }  // The first failure.
  bool any_launched() const { return any_launched_; }
  std::vector<ProviderResults> take_results(const Environment& environment) {
    return best_.take(environment);
  }

 private:
  sweep::Observer& next_;
  std::filesystem::path folder_;
  const KernelCopies& kernels_;
  Status status_;
  BestOfProviders best_;
  bool any_launched_ = false;
};

}  // namespace

Result<DeviceLock> hold_device(Context& context, sweep::Request& request) {
  ASSAY_TRY(auto lock, sweep::hold_device(request, show_wait(context.console)));
  request.caller.device_held = true;
  return lock;
}

Result<FinishedRun> run_request(Context& context, const sweep::Request& asked, Keep keep) {
  FinishedRun run;
  sweep::Request request = asked;
  request.keep.folder = plain_folder(request.keep.folder);
  ASSAY_TRY(check_run_folder(request.keep.folder, request.pool.providers));
  const KernelCopies kernels(request.pool.kernels);
  std::optional<DeviceLock> lock;
  if (!request.caller.device_held) {
    ASSAY_TRY(lock, hold_device(context, request));
  }
  {
    const auto progress = make_progress(context.console, request);
    RunFiles observer(*progress, request.keep.folder, kernels);
    auto record = sweep::run(request, observer);
    if (!record && record.error().code == ErrorCode::interrupted)
      return fail(
          ErrorCode::interrupted, "stopped; the journal in {} holds all that was finished{}",
          request.keep.folder.string(),
          request.question.kind == "sweep" ? ": the same command with --resume goes on" : "");
    if (!record) return fail(std::move(record).error());
    ASSAY_TRY(observer.status());
    run.record = std::move(*record);
    run.any_launched = observer.any_launched();
    const auto results = observer.take_results(run.record.environment);
    ASSAY_TRY(run.files.results, write_results(results, request.keep.folder));
    for (const size_t place : comparable(results))
      run.files.comparable.push_back(run.files.results[place]);
  }
  run.files.record = (request.keep.folder / "record.json").string();
  if (keep == Keep::everything) ASSAY_TRY(read_everything(run));
  return run;
}

Status read_everything(FinishedRun& run) {
  ASSAY_TRY(run.record, load_record(run.files.record));
  return {};
}

bool was_launched(const KernelOutcome& kernel) {
  const std::string_view ending = ending_name(kernel.ending);
  return ending != "refusal" && ending != "build_failure";
}

int run_exit_code(const FinishedRun& run) {
  if (!run.any_launched) return kNothingRan;
  const bool all_won = std::ranges::all_of(run.record.problems, [](const ProblemRecord& problem) {
    return problem.winner() != nullptr;
  });
  return all_won ? kDone : kRefuted;
}

std::filesystem::path next_run_folder(const std::string& name) {
  const std::string safe = matches_name_rule(name) ? name : "run";
  for (int n = 1;; ++n) {
    const auto folder = std::filesystem::path("runs") / fmt::format("{:04}-{}", n, safe);
    std::error_code ignored;
    if (!std::filesystem::exists(folder, ignored)) return folder;
  }
}

}  // namespace assay::cli
