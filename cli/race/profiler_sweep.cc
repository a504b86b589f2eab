#include "cli/race/profiler_sweep.h"

#include <optional>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "assay/base/json.h"
#include "assay/base/shell_word.h"
#include "assay/base/subprocess.h"
#include "assay/base/text.h"
#include "assay/base/visible_gpus.h"
#include "assay/profiler/tool.h"
#include "assay/report/table.h"
#include "assay/report/width.h"
#include "assay/report/words.h"
#include "cli/exit_code.h"
#include "cli/files/run_files.h"
#include "cli/flags/choose_device.h"
#include "cli/flags/quantities.h"
#include "cli/show/show_run.h"

namespace assay::cli {
namespace {

using profiler::kProvider;
constexpr const char* kSuiteOfProfiler = "transformer";
constexpr int kWidth = 80, kIndent = 10;  // Of lines of progress; of those that go on.

class Progress : public profiler::SweepObserver {
 public:
  Progress(Console& console, std::size_t problems) : console_(console), problems_(problems) {}

  void on_note(const std::string& sentence) override { console_.note(sentence); }
  void on_problem(std::size_t index, const Problem& problem) override {
    head_ = head(index, problem.name());
    if (console_.live())
      console_.redraw(head_ + "\n");
    else if (problems_ > 1)
      console_.progress(head_);
  }
  void on_rows(std::size_t rows) override {
    if (console_.live())
      console_.redraw(fmt::format("{}  {} kernel{}\n", head_, rows, rows == 1 ? "" : "s"));
  }
  void on_result(std::size_t index, const ProviderResult& result, bool kept) override {
    console_.progress(fmt::format("{}  {} us{}", head(index, result.name),
                                  report::microseconds(result.runtime_ms * 1e3),
                                  kept ? "  (from the results that were here)" : ""));
    if (console_.verbosity() > 0) console_.progress("           " + sanitize(result.kernel, 300));
  }
  void on_failure(std::size_t index, const Problem& problem, const std::string& why) override {
    const std::string text = report::wrap(
        fmt::format("{}  failed: {}", head(index, problem.name()), sanitize(why, 1000)), kWidth,
        kIndent);
    console_.progress(text.substr(0, text.size() - 1));
  }

 private:
  std::string head(std::size_t index, const std::string& name) const {
    return fmt::format("{:>4}/{}  {}", index + 1, problems_, sanitize(name, 200));
  }

  Console& console_;
  std::size_t problems_;
  std::string head_;
};

// The GPU that it will see alone: the one that was named, else the first; empty where there is
// none, which the profiler says itself.
Result<std::string> gpu_of(const Context& context) {
  if (context.venue.is_gpu()) return context.venue.gpu;
  if (context.device_named)
    return fail(ErrorCode::invalid_input,
                "--profiler: cutlass_profiler runs on a GPU; leave --device cpu out");
  const GpuList list = list_gpus();
  return list.gpus.empty() ? std::string() : list.gpus.front().uuid;
}

// What the machine is, as the runs of a race say it; none where that cannot be told.
std::optional<Environment> describe_machine(const sweep::Request& request) {
  if (request.venue.is_cpu()) return std::nullopt;
  auto machine = sweep::inspect(request, sweep::Inspection::brief);
  if (!machine) return std::nullopt;
  return std::move(machine->environment);
}

bool has_triton(const std::filesystem::path& file) {
  std::error_code ignored;
  return std::filesystem::exists(file.parent_path() / results_file_name("triton"), ignored);
}

void show(Console& console, const ProviderResults& results, const std::string& file, int code) {
  if (console.json()) {
    Json json = to_json(results);
    json["schema"] = "assay.profiler_sweep/1";
    json["file"] = file;
    json["exit_code"] = code;
    return console.result(dump_pretty(json));
  }
  report::Table table;
  table.columns = {{"shape", report::Align::left, 24, report::Elide::end},
                   {"cutlass_profiler's best", report::Align::left, 20, report::Elide::middle},
                   {"us", report::Align::right, 0, report::Elide::end},
                   {"TFLOP/s", report::Align::right, 0, report::Elide::end}};
  for (const ProviderResult& result : results.results)
    table.rows.push_back({{{sanitize(result.name, 200), {}},
                           {sanitize(result.kernel, 300), {}},
                           {report::microseconds(result.runtime_ms * 1e3), {}},
                           {fmt::format("{:.4g}", result.tflops), {}}},
                          {}});
  std::string text;
  if (!table.rows.empty()) {
    text = report::text_table(table, {console.width_out(), console.colour_out()});
    text += "timed elsewhere, unproven: by cutlass_profiler's own clock and checks\n";
  }
  for (const std::string& name : results.failed) {
    const auto why = results.reasons.find(name);
    text +=
        report::wrap(fmt::format("failed    {}: {}", sanitize(name, 200),
                                 why == results.reasons.end() ? "" : sanitize(why->second, 1000)),
                     console.width_out(), kIndent);
  }
  text += fmt::format("results   {}\n", sanitize(file, 1000));
  if (code == kDone)
    text +=
        fmt::format("next      assay compare --baseline {} {}\n", shell_word(sanitize(file, 1000)),
                    has_triton(file) ? "--include-default-triton" : "--providers FILE...");
  console.result(text);
}

}  // namespace

Result<int> sweep_by_profiler(Context& context, const ProfilerSweep& asked) {
  ASSAY_TRY(ProfilerFlags::refuse_those_of_a_race(context.command_line));
  const auto& providers = asked.options.pool.providers;
  if (!providers.empty() && (providers.size() > 1 || providers.front() != kProvider))
    return fail(ErrorCode::invalid_input,
                "--profiler is of --provider {} alone; the others race by a command of their own",
                kProvider);
  profiler::SweepRequest request;
  ASSAY_TRY(request.binary, asked.flags.find(context.settings));
  ASSAY_TRY(request.flags, asked.flags.flags(context.console, asked.kernels));
  ASSAY_TRY(request.silence_seconds, parse_seconds(asked.flags.timeout, "--profiler-timeout"));
  ASSAY_TRY(input::Suite suite, asked.problems.read(kSuiteOfProfiler));
  request.problems = std::move(suite.problems);
  request.folder = plain_folder(asked.folder.empty() ? profiler::kFolder : asked.folder);
  request.results_file = profiler::kResultsFile;
  request.if_present = asked.if_present;
  request.environment = context.settings.child_environment;
  request.cancel_fd = context.cancel_fd;

  sweep::Request machine;
  machine.question.kind = "inspect";
  ASSAY_TRY(machine.venue.gpu, gpu_of(context));
  machine.keep.cache = context.settings.cache;
  machine.caller.environment = context.settings.child_environment;
  machine.caller.cancel_fd = context.cancel_fd;
  machine.caller.lock = context.settings.lock_options();
  if (!asked.options.lock_folder.empty()) machine.caller.lock.folder = asked.options.lock_folder;
  machine.caller.lock.wait = !asked.options.no_wait;
  std::optional<DeviceLock> lock;
  if (machine.venue.is_gpu()) {
    set_variable(request.environment, kVisibleGpus, machine.venue.gpu);
    ASSAY_TRY(lock, hold_device(context, machine));
  }
  request.machine = describe_machine(machine);

  const std::string file = (request.folder / request.results_file).string();
  Progress progress(context.console, request.problems.size());
  auto results = profiler::run_sweep(request, progress);
  context.console.finish_redraw();
  if (!results && results.error().code == ErrorCode::interrupted)
    return fail(ErrorCode::interrupted,
                "stopped; {} holds what was finished: the same command with --resume goes on",
                sanitize(file, 1000));
  if (!results) return fail(std::move(results).error());
  const int code = results->failed.empty() ? kDone : kRefuted;
  show(context.console, *results, file, code);
  return code;
}

}  // namespace assay::cli
