#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "assay/base/text.h"
#include "assay/report/words.h"
#include "cli/files/kernel_files.h"
#include "cli/files/user_files.h"
#include "cli/flags/choose_device.h"
#include "cli/flags/chosen_kernels.h"
#include "cli/flags/problem_flags.h"
#include "cli/flags/race_options.h"
#include "cli/show/race_text.h"
#include "cli/show/show_run.h"

namespace assay::cli {
namespace {

class RunCommand : public Command {
 public:
  const char* name() const override { return "run"; }
  const char* summary() const override {
    return "One kernel on one shape: compile, prove, time. No claim";
  }
  const char* example() const override {
    return "assay run openblas/sgemm --shape m=64,n=1024,k=1024,dtype=f32";
  }

  void declare(Flags& app) override {
    app.add_option("kernel", kernel_,
                   "A name, PROVIDER/NAME, the first digits of an id (assay kernels), or a file")
        .required()
        .type_name("KERNEL");
    problems_.declare(app);
    files_.declare_kernels(app, "Files of your own, to find it in");
    app.set_group(FlagGroup::output);
    app.add_option("--output-dir", folder_,
                   "Where the record goes (default: runs/<n>-run-<kernel>)")
        .type_name("DIR");
    options_.declare(app);
  }

  Result<int> run(Context& context) override {
    const bool is_file = names_file(kernel_);
    if (is_file) files_.words = {kernel_};
    const auto files = read_sources(files_.all());
    if (!context.device_named) {
      ASSAY_TRY(context.venue.gpu, device_for(files, is_file ? std::vector<std::string>()
                                                             : std::vector<std::string>{kernel_}));
    }
    ASSAY_TRY(sweep::Request request, options_.make_request(context, "run"));
    if (problems_.empty())
      return fail(
          ErrorCode::invalid_input,
          "run: on which shape? Give --shape m=16,n=4096,k=4096,dtype=f32, or --suite NAME");
    if (!files) return fail(files.error());
    ASSAY_TRY(problems_.complete(context.console, *files));
    ASSAY_TRY(problems_.fill(request, "", context.console));
    bring_first(request, *files);
    const auto families = is_file ? files->front().families() : std::vector<std::string>();
    request.effort.confirm = false;
    request.pool.build = 0;
    request.keep.folder = folder_;
    // A name that is none needs no machine to itself.
    ASSAY_TRY(const KernelMetadata metadata, find_kernel(request, kernel_, families));
    ASSAY_TRY(const DeviceLock held, hold_device(context, request));
    narrow(request, {&metadata, 1});
    if (folder_.empty()) request.keep.folder = next_run_folder("run-" + folder_part(metadata));
    ASSAY_TRY(const FinishedRun run, run_request(context, request, Keep::everything));
    const int code = timed_exit_code(run.record);
    context.console.result(context.console.json()
                               ? dump_pretty(summary_json(run.record, run.files, code))
                               : text(context.console, run));
    return code;
  }

 private:
  static std::string text(const Console& console, const FinishedRun& run) {
    const report::TextStyle style{console.width_out(), console.colour_out()};
    std::string out;
    for (const ProblemRecord& problem : run.record.problems) {
      out += problem.name + '\n';
      if (problem.kernels.empty())
        out += line_text({"refused", "by its rule; `assay kernels --why` says why"}, style);
      for (const KernelOutcome& kernel : problem.kernels) out += text(problem, kernel, style);
      out += evidence_text(problem, style);
    }
    out += warning_text(run.record.environment, style);
    return out + line_text({"record", run.files.record + "   (one kernel alone: no claim)"}, style);
  }

  static std::string text(const ProblemRecord& problem, const KernelOutcome& kernel,
                          const report::TextStyle& style) {
    std::string out = line_text({"kernel", fmt::format("{}   id {}", sanitize(kernel.label(), 240),
                                                       kernel.id.substr(0, 12))},
                                style);
    std::string built = kernel.artifact_hash.empty() ? "no"
                        : kernel.build_seconds > 0   ? format_duration(kernel.build_seconds)
                                                     : "nothing to compile";
    if (kernel.workspace_bytes > 0)
      built +=
          fmt::format(", workspace {}", format_bytes(static_cast<double>(kernel.workspace_bytes)));
    if (kernel.prepared_bytes > 0)
      built += fmt::format(", prepared {} in {}",
                           format_bytes(static_cast<double>(kernel.prepared_bytes)),
                           format_duration(kernel.prepare_seconds));
    out += line_text({"ready", built}, style);
    if (kernel.proof)
      out += line_text(
          {"proven", fmt::format("{}: {} kinds of input, error at most {} of the budget, {}",
                                 kernel.proof->word(), kernel.proof->checks.size(),
                                 report::error_text(kernel.proof->max_error),
                                 sanitize(kernel.proof->method, 200))},
          style);
    if (!is_timed(kernel.ending))
      return out + line_text({"ending", ending_sentence(kernel.ending)}, style);
    if (kernel.race && kernel.race->median_us > 0) {
      const double us = kernel.race->median_us;
      const std::string arithmetic =  // A user's definition need not say how much there is.
          problem.flops > 0 ? "   " + format_si(problem.flops / us * 1e6, "FLOP/s") : "";
      out += line_text(
          {"timed", fmt::format("{} us median of {} round{} ({} clean){}   {}",
                                report::microseconds(us), kernel.race->rounds,
                                kernel.race->rounds == 1 ? "" : "s", kernel.race->clean_rounds,
                                arithmetic, format_si(problem.bytes / us * 1e6, "B/s"))},
          style);
    } else {
      const std::string why = kernel.race && !kernel.race->reason.empty()
                                  ? sanitize(kernel.race->reason, 400)
                                  : "no round was completed";
      out += line_text({"timed", "none: " + why +
                                     "; less load on the machine, a larger --budget or more "
                                     "--threads would help"},
                       style);
    }
    for (const Finding& finding : kernel.findings)
      out += line_text({"finding", fmt::format("{}: {}", sanitize(finding.code, 80),
                                               sanitize(finding.sentence, 400))},
                       style);
    return out;
  }

  std::string kernel_, folder_;
  KernelFiles files_;
  ProblemFlags problems_;
  RaceOptions options_;
};

}  // namespace

std::unique_ptr<Command> make_run_command() { return std::make_unique<RunCommand>(); }

}  // namespace assay::cli
