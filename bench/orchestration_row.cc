// What the harness itself costs, in time and in the parent's memory. "Trial" can be read in two
// ways, and both are measured, each in a process of its own, so that a peak is of that run alone:
//  - a kernel on a problem, as a record counts them: 100,000 kernels of microseconds in one sweep,
//    built, proven and hardly raced;
//  - a burst: the stock and native pool, raced and confirmed.
// Time is wall time less that inside bursts; the worse reading is held against the bound.

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include <fmt/format.h>

#include "assay/base/file.h"
#include "assay/base/text.h"
#include "bench/orchestration.h"
#include "bench/runs.h"

namespace assay::bench {
namespace {

constexpr int64_t kScheduled = 100'000;
constexpr double kMostMiB = 100;
constexpr int64_t kRowsPerProblem = 1000;

struct Schedule {
  double overhead_seconds = 0;  // Wall time less that inside bursts.
  double peak_mib = 0;
  double trials = 0;
};

Result<double> number(const JsonField& root, const char* key) {
  ASSAY_TRY(const JsonField field, root.at(key));
  return field.as_double();
}

// kind: "kernels" or "bursts".
Result<Schedule> run_schedule(const Context& context, const std::string& kind, int64_t size) {
  SubprocessOptions options;
  options.argv = {"/proc/self/exe", "schedule", kind,
                  (context.folder / fmt::format("schedule_{}_{}", kind, size)).string(),
                  std::to_string(size)};
  options.env = child_environment();
  ASSAY_TRY(const CommandOutput output, run_command(options, {.timeout_ns = 900'000'000'000}));
  if (!output.status.success())
    return fail(ErrorCode::failed, "a schedule of {} {}: {}; {}", size, kind,
                output.status.describe(), sanitize(output.err, 500));
  ASSAY_TRY(const JsonDocument document, parse_json_document(output.out, "schedule"));
  const JsonField root(document);
  Schedule schedule;
  ASSAY_TRY(schedule.overhead_seconds, number(root, "overhead_seconds"));
  ASSAY_TRY(schedule.peak_mib, number(root, "peak_mib"));
  ASSAY_TRY(schedule.trials, number(root, "trials"));
  if (schedule.trials < 1) return fail(ErrorCode::failed, "a schedule of {} had no trial", kind);
  return schedule;
}

Result<sweep::Request> schedule_of_kernels(const Context& context, int64_t kernels) {
  const int64_t rows = std::min(kernels, kRowsPerProblem);
  sweep::Request request = make_request(context, "run", {});
  request.caller.environment = child_environment(fmt::format("plain:{}", rows));
  request.effort.confirm = false;
  request.effort.budget_seconds = 1;
  ASSAY_TRY(request.question.problems,
            repeated({{.m = 4, .n = 32, .k = 32}}, static_cast<int>(kernels / rows)));
  return request;
}

Result<sweep::Request> schedule_of_bursts(const Context& context, int64_t problems) {
  sweep::Request request = make_request(context, "run", {"native_cpu", "openblas", "onednn"});
  request.effort.budget_seconds = 3.0 * static_cast<double>(problems);
  ASSAY_TRY(request.question.problems,
            repeated({{.m = 64, .n = 256, .k = 256}}, static_cast<int>(problems)));
  return request;
}

// Since this program was started: getrusage() would count what its parent had before.
Result<double> peak_mib() {
  ASSAY_TRY(const std::string status, read_file("/proc/self/status"));
  const size_t at = status.find("VmHWM:");
  if (at == std::string::npos)
    return fail(ErrorCode::missing, "/proc/self/status does not tell a peak");
  return std::strtod(status.c_str() + at + 6, nullptr) / 1024;
}

struct BurstCounter : sweep::Observer {
  int64_t bursts = 0;
  void on_problem_done(size_t, const ProblemRecord& problem, bool) override {
    bursts += bursts_of(problem);
  }
};

Result<Json> measure_schedule(const std::string& kind, const std::string& folder, int64_t size) {
  const Context context{false, std::filesystem::path(folder)};
  ASSAY_TRY(const sweep::Request request, kind == "kernels" ? schedule_of_kernels(context, size)
                                                            : schedule_of_bursts(context, size));
  BurstCounter counter;
  ASSAY_TRY(const RunRecord record, sweep::run(request, counter));
  if (kind == "kernels" && record.totals.proven < size)
    return fail(ErrorCode::failed, "only {} were proven", record.totals.proven);
  ASSAY_TRY(const double peak, peak_mib());
  return Json{{"overhead_seconds", record.totals.wall_seconds - record.totals.timed_seconds},
              {"trials", kind == "kernels" ? record.totals.trials : counter.bursts},
              {"peak_mib", peak}};
}

double milliseconds_each(const Schedule& schedule) {
  return 1e3 * schedule.overhead_seconds / schedule.trials;
}

Row memory_row(const std::string& what, double mib) {
  return {.target = fmt::format("parent's memory for 100,000 trials, as {}", what),
          .bound = fmt::format("<= {:.0f} MiB", kMostMiB),
          .measured = fmt::format("{:.0f} MiB", mib),
          .ok = mib <= kMostMiB};
}

Row memory_of_kernels(const Schedule& schedule) {
  Row row = memory_row("kernels", schedule.peak_mib);
  row.notes.push_back(
      fmt::format("memory, kernels: a peak of {:.1f} MiB in one sweep of {:.0f}, {} to a problem.",
                  schedule.peak_mib, schedule.trials, kRowsPerProblem));
  row.details = {{"trials", schedule.trials}, {"mib", schedule.peak_mib}};
  return row;
}

// As many bursts would take too long here. Memory grows by what is kept of each: a line through two
// schedules.
Row memory_of_bursts(const Schedule& few, const Schedule& many) {
  const double each =
      std::max(0.0, many.peak_mib - few.peak_mib) / std::max(1.0, many.trials - few.trials);
  const double full = many.peak_mib + each * (static_cast<double>(kScheduled) - many.trials);
  Row row = memory_row("bursts", full);
  row.notes.push_back(fmt::format(
      "memory, bursts: a peak of {:.1f} MiB at {:.0f} and of {:.1f} MiB at {:.0f}, so {:.2f} KiB "
      "each; the measured value continues that line.",
      few.peak_mib, few.trials, many.peak_mib, many.trials, 1024 * each));
  row.details = {{"few", few.trials},
                 {"few_mib", few.peak_mib},
                 {"many", many.trials},
                 {"many_mib", many.peak_mib},
                 {"full_mib", full}};
  return row;
}

}  // namespace

int schedule_main(const std::string& kind, const std::string& folder, const std::string& size) {
  const auto measured = measure_schedule(kind, folder, std::max(1LL, std::atoll(size.c_str())));
  if (!measured) {
    std::fprintf(stderr, "%s\n", measured.error().message.c_str());
    return 1;
  }
  std::fputs(canonical(*measured).c_str(), stdout);
  return 0;
}

Result<std::vector<Row>> measure_orchestration(const Context& context) {
  const int64_t problems = context.quick ? 2 : 6;
  ASSAY_TRY(const Schedule kernels,
            run_schedule(context, "kernels", context.quick ? 200 : kScheduled));
  ASSAY_TRY(const Schedule few_bursts, run_schedule(context, "bursts", 1));
  ASSAY_TRY(const Schedule many_bursts, run_schedule(context, "bursts", problems));
  const double kernel_ms = milliseconds_each(kernels);
  const double burst_ms = milliseconds_each(many_bursts);
  const double worst = std::max(kernel_ms, burst_ms);
  Row row{.target = "orchestration per trial beyond the kernel's own time",
          .bound = "<= 5 ms",
          .measured = fmt::format("{:.2f} ms", worst),
          .ok = worst <= 5};
  row.notes.push_back(fmt::format(
      "orchestration: {:.2f} ms for each of {:.0f} kernels, proof and record included; {:.2f} ms "
      "around each of {:.0f} bursts, proofs, fresh processes and placing of operands included.",
      kernel_ms, kernels.trials, burst_ms, many_bursts.trials));
  row.details = {{"kernel_ms", kernel_ms}, {"burst_ms", burst_ms}};
  return std::vector<Row>{std::move(row), memory_of_kernels(kernels),
                          memory_of_bursts(few_bursts, many_bursts)};
}

}  // namespace assay::bench
