// What the harness itself costs. A trial is one kernel on one problem, as a record counts them:
// from discovery through building and proof to its ending. Two runs tell the costs apart:
//  - very many kernels of microseconds, few of them raced to the end: wall time less that inside
//    bursts, over trials;
//  - a few kernels, raced and confirmed: wall time less that inside bursts, over bursts.
// The worse of the two is held against the bound.

#include <cstdlib>
#include <sys/resource.h>

#include <fmt/format.h>

#include "assay/base/text.h"
#include "bench/orchestration.h"
#include "bench/runs.h"

namespace assay::bench {
namespace {

constexpr int64_t kScheduled = 100'000;
constexpr int64_t kRowsPerProblem = 1000;

struct Schedule {
  double wall_seconds = 0;  // Less the time inside bursts.
  double peak_mib = 0;
  int64_t trials = 0, proven = 0;
};

// In a process of its own: the peak is the parent's of that run alone.
Result<Schedule> run_schedule(const Context& context, int64_t trials) {
  SubprocessOptions options;
  options.argv = {"/proc/self/exe", "schedule",
                  (context.folder / fmt::format("schedule_{}", trials)).string(),
                  std::to_string(trials)};
  options.env = child_environment();
  ASSAY_TRY(const CommandOutput output, run_command(options, {.timeout_ns = 900'000'000'000}));
  if (!output.status.success())
    return fail(ErrorCode::failed, "a schedule of {} trials {}: {}", trials,
                output.status.describe(), sanitize(output.err, 500));
  ASSAY_TRY(const JsonDocument document, parse_json_document(output.out, "schedule"));
  const JsonField root(document);
  Schedule schedule;
  ASSAY_TRY(const JsonField wall, root.at("wall_seconds"));
  ASSAY_TRY(schedule.wall_seconds, wall.as_double());
  ASSAY_TRY(const JsonField peak, root.at("peak_mib"));
  ASSAY_TRY(schedule.peak_mib, peak.as_double());
  ASSAY_TRY(const JsonField ran, root.at("trials"));
  ASSAY_TRY(schedule.trials, ran.as_int64());
  ASSAY_TRY(const JsonField proven, root.at("proven"));
  ASSAY_TRY(schedule.proven, proven.as_int64());
  if (schedule.proven < schedule.trials)
    return fail(ErrorCode::failed, "of {} kernels {} were proven", schedule.trials,
                schedule.proven);
  return schedule;
}

}  // namespace

int schedule_main(const std::string& folder, const std::string& trials_text) {
  const int64_t trials = std::atoll(trials_text.c_str());
  const int64_t rows = std::min(trials, kRowsPerProblem);
  const Context context{false, std::filesystem::path(folder)};
  const auto ran = [&]() -> Result<RunRecord> {
    sweep::Request request = make_request(context, "run", {});
    request.environment = child_environment(fmt::format("plain:{}", rows));
    ASSAY_TRY(request.problems,
              repeated({{.m = 4, .n = 32, .k = 32}}, static_cast<int>(trials / rows)));
    sweep::Observer silent;
    request.confirm = false;  // Built, proven and raced; confirming is in the other run.
    request.budget_seconds = 1;
    return sweep::run(request, silent);
  }();
  if (!ran) {
    std::fprintf(stderr, "%s\n", ran.error().message.c_str());
    return 1;
  }
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const Json result = {{"wall_seconds", ran->totals.wall_seconds - ran->totals.timed_seconds},
                       {"proven", ran->totals.proven},
                       {"trials", ran->totals.trials},
                       {"peak_mib", static_cast<double>(usage.ru_maxrss) / 1024}};
  std::fputs(canonical(result).c_str(), stdout);
  return 0;
}

Result<std::vector<Row>> measure_orchestration(const Context& context) {
  const int64_t trials = context.quick ? 200 : 2000;
  ASSAY_TRY(const Schedule few, run_schedule(context, trials / 10));
  ASSAY_TRY(const Schedule many, run_schedule(context, trials));

  sweep::Request request = make_request(context, "bursts", {"native_cpu", "openblas", "onednn"});
  ASSAY_TRY(request.problems, repeated({{.m = 64, .n = 256, .k = 256}}, context.count(4, 1)));
  ASSAY_TRY(const RunRecord raced, run(request));
  const auto bursts = static_cast<double>(bursts_of(raced));
  const double burst_ms =
      1e3 * (raced.totals.wall_seconds - raced.totals.timed_seconds) / std::max(bursts, 1.0);
  const double trial_ms =
      1e3 * many.wall_seconds / static_cast<double>(std::max<int64_t>(many.trials, 1));
  const double worst = std::max(trial_ms, burst_ms);

  Row row{.target = "orchestration per trial beyond the kernel's own time",
          .bound = "<= 5 ms",
          .measured = fmt::format("{:.2f} ms", worst),
          .ok = worst <= 5};
  row.notes.push_back(fmt::format(
      "orchestration: {} trials of quick kernels, proofs and records included, {:.2f} ms "
      "each; in a sweep with races, {:.0f} bursts, {:.2f} ms around each (proofs, fresh processes "
      "and placing of operands included).",
      many.trials, trial_ms, bursts, burst_ms));
  row.details = {
      {"trial_ms", trial_ms}, {"burst_ms", burst_ms}, {"bursts", bursts}, {"trials", many.trials}};

  // Memory grows by what is kept of each trial: a line through two schedules.
  const double each =
      (many.peak_mib - few.peak_mib) / static_cast<double>(many.trials - few.trials);
  const double at_full = many.peak_mib + each * static_cast<double>(kScheduled - many.trials);
  Row memory{.target = "parent's memory for a schedule of 100,000 trials",
             .bound = "<= 100 MiB",
             .measured = fmt::format("{:.0f} MiB", at_full),
             .ok = at_full <= 100};
  memory.notes.push_back(fmt::format(
      "memory: peak of {:.1f} MiB at {} trials and {:.1f} MiB at {}: {:.2f} KiB each, continued to "
      "100,000.",
      few.peak_mib, few.trials, many.peak_mib, many.trials, 1024 * each));
  memory.details = {{"few_mib", few.peak_mib}, {"many_mib", many.peak_mib}, {"full_mib", at_full}};
  return std::vector<Row>{std::move(row), std::move(memory)};
}

}  // namespace assay::bench
