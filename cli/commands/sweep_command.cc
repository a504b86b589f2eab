#include <optional>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "assay/base/shell_word.h"
#include "assay/base/text.h"
#include "assay/input/manifest.h"
#include "assay/profiler/tool.h"
#include "assay/report/sweep_report.h"
#include "cli/exit_code.h"
#include "cli/files/kernel_files.h"
#include "cli/files/save_table.h"
#include "cli/files/user_files.h"
#include "cli/flags/choose_device.h"
#include "cli/flags/problem_flags.h"
#include "cli/flags/race_options.h"
#include "cli/race/profiler_sweep.h"
#include "cli/show/show_run.h"

namespace assay::cli {
namespace {

constexpr const char* kSuiteOfCores = "transformer_cpu";
constexpr const char* kSuiteOfAGpu = "transformer";

class SweepCommand : public Command {
 public:
  const char* name() const override { return "sweep"; }
  const char* summary() const override {
    return "Race every kernel on every shape of a suite, and keep the evidence";
  }
  const char* example() const override {
    return "assay sweep --suite decode --provider openblas native_cpu";
  }

  const char* description() const override {
    return "For each shape, kernels are found, compiled, proven right, and raced until few are "
           "left. Those are confirmed in fresh processes. The table shows the winners, each "
           "against the best stock kernel. The output folder holds the record, a journal for "
           "--resume, a log for each shape, and the results of each provider.";
  }

  void declare(Flags& app) override {
    files_.declare_words(app, "Your kernels to race too: manifests, FILE or FILE::ENTRY");
    problems_.declare(app);
    files_.declare_kernels(
        app, "More of your kernels; with --profiler, names of its kernels (* stands for anything)");
    app.set_group(FlagGroup::output);
    app.add_option("--output-dir", folder_, "Where results go (default: artifacts/<suite>)")
        .type_name("DIR");
    const Flag resume =
        app.add_flag("--resume", resume_, "Go on with the run in the output folder");
    app.add_flag("--fresh", fresh_, "Move the run in the output folder aside, and begin anew")
        .excludes(resume);
    app.set_group(FlagGroup::kernels);
    app.add_flag("--exhaustive", exhaustive_,
                 "Build every kernel, and drop none before the end of the race");
    app.set_group(FlagGroup::output);
    app.add_flag("--why", why_,
                 "Show why kernels were refused or failed, and why a verdict is unsure");
    app.add_option("--save-table", table_,
                   "Write the winners as a tuned table, for programs to run (docs/dispatch.md)")
        .type_name("FILE");
    options_.declare(app);
    options_.ranking.declare(app);
    profiler_.declare(app);
  }

  Result<int> run(Context& context) override {
    if (resume_ && fresh_)
      return fail(ErrorCode::invalid_input,
                  "--resume and --fresh exclude one another; give one of them");
    const std::vector<std::string> kernels = files_.all();
    if (profiler_.given())
      return sweep_by_profiler(context, {profiler_, problems_, options_, kernels, folder_,
                                         resume_  ? profiler::IfPresent::resume
                                         : fresh_ ? profiler::IfPresent::fresh
                                                  : profiler::IfPresent::refuse});
    ASSAY_TRY(check_no_profiler(context));
    ASSAY_TRY(files_.check("sweep"));
    const auto files = read_sources(kernels);
    if (!context.device_named) {
      ASSAY_TRY(context.venue.gpu, device_for(files, options_.pool.providers));
    }
    ASSAY_TRY(sweep::Request request, options_.make_request(context, "sweep"));
    if (!table_.empty()) ASSAY_TRY(check_table_path(table_));
    if (!files) return fail(files.error());
    ASSAY_TRY(problems_.complete(context.console, *files));
    ASSAY_TRY(problems_.fill(request, request.venue.is_cpu() ? kSuiteOfCores : kSuiteOfAGpu,
                             context.console));
    bring_first(request, *files);
    note_renamed(context.console, request.pool.kernels);
    request.effort.exhaustive = exhaustive_;
    if (exhaustive_) {
      if (!options_.ranking.build.empty() && options_.ranking.build != "all")
        return fail(ErrorCode::invalid_input,
                    "--exhaustive builds every kernel, --build some; give one of them");
      request.pool.build = 0;
    }
    request.keep.folder = folder(request.question.suite);
    request.keep.if_present = resume_  ? sweep::IfPresent::resume
                              : fresh_ ? sweep::IfPresent::fresh
                                       : sweep::IfPresent::refuse;
    ASSAY_TRY(FinishedRun run, run_request(context, request, Keep::headlines));
    const int code = run_exit_code(run);
    if (why_ || code == kNothingRan || context.console.json()) ASSAY_TRY(read_everything(run));
    std::optional<SavedTable> saved;
    if (!table_.empty()) {
      ASSAY_TRY(saved, save_table(request, run, table_));
    }
    show(context.console, run, saved, code);
    return code;
  }

 private:
  // The variable alone turns no race into another tool's results.
  Status check_no_profiler(Context& context) const {
    if (!profiler_.extra.empty())
      return fail(ErrorCode::invalid_input,
                  "--extra-profiler-flags are of a cutlass_profiler: give --profiler too");
    const auto& providers = options_.pool.providers;
    if (!context.settings.cutlass_profiler.empty() && providers.size() == 1 &&
        providers.front() == profiler::kProvider)
      context.console.note(
          "CUTLASS_PROFILER_BIN is set; --profiler would let it time its kernels. This is a race.");
    return {};
  }

  // Of one provider alone, the name that scripts written for its tool expect.
  std::filesystem::path folder(const std::string& suite) const {
    if (!folder_.empty()) return folder_;
    const std::filesystem::path artifacts("artifacts");
    const auto& providers = options_.pool.providers;
    for (const auto& one : built_in_providers())
      if (const ProviderInfo& info = one->info();
          providers.size() == 1 && info.name == providers.front() && !info.output_folder.empty())
        return artifacts / info.output_folder;
    return artifacts / suite;
  }

  static std::string next_step(const FinishedRun& run, int code) {
    if (code == kNothingRan) return "assay providers";
    if (code != kDone) return {};
    const auto& files = run.files.comparable;
    if (files.empty()) return {};
    std::string words;
    for (const std::string& file : std::span(files).subspan(1)) words += ' ' + shell_word(file);
    return fmt::format("assay compare --baseline {} --providers{}", shell_word(files.front()),
                       words);
  }

  void show(Console& console, const FinishedRun& run, const std::optional<SavedTable>& saved,
            int code) const {
    if (console.json()) {
      Json json = summary_json(run.record, run.files, code);
      if (saved) json["table"] = to_json(*saved);
      return console.result(dump_pretty(json));
    }
    report::SweepReportOptions options;
    options.style = {console.width_out(), console.colour_out(), console.terminal_out()};
    options.record_path = run.files.record;
    options.next = next_step(run, code);
    options.why = why_ || code == kNothingRan;
    std::string text = report::sweep_text(run.record, options);
    if (saved) text += saved_table_text(*saved);
    console.result(text);
    if (code == kNothingRan)
      console.error("no kernel could run on any of these shapes; the lines above say why");
  }

  ProblemFlags problems_;
  std::string folder_, table_;
  KernelFiles files_;
  bool resume_ = false, fresh_ = false, exhaustive_ = false, why_ = false;
  RaceOptions options_;
  ProfilerFlags profiler_;
};

}  // namespace

std::unique_ptr<Command> make_sweep_command() { return std::make_unique<SweepCommand>(); }

}  // namespace assay::cli
