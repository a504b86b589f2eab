#include <filesystem>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "assay/base/text.h"
#include "assay/compare/limits.h"
#include "assay/record/conclude.h"
#include "assay/report/why_report.h"
#include "assay/report/words.h"
#include "cli/command.h"
#include "cli/files/find_ncu.h"
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

Json json_of(const GpuProfile& profile) {
  Json kernels = Json::array();
  for (const ProfiledKernel& kernel : profile.kernels)
    kernels.push_back({{"name", kernel.name}, {"metrics", kernel.metrics}});
  return {{"tool", profile.tool},         {"command_line", profile.command_line},
          {"output", profile.output},     {"unavailable", profile.unavailable},
          {"note", profile.note},         {"launches", profile.launches},
          {"kernels", std::move(kernels)}};
}

Json json_of(const Limits& limits) {
  Json ceilings = Json::array();
  for (const CeilingShare& ceiling : limits.ceilings)
    ceilings.push_back({{"ceiling", ceiling.ceiling},
                        {"reached", ceiling.reached},
                        {"value", ceiling.value},
                        {"unit", ceiling.unit},
                        {"share", ceiling.share()}});
  return {{"kernel", limits.label},
          {"id", limits.id},
          {"failure", limits.failure},
          {"us", limits.us},
          {"low_us", limits.low_us},
          {"high_us", limits.high_us},
          {"threads", limits.threads},
          {"ceilings", std::move(ceilings)},
          {"clock_hz", limits.clock_hz},
          {"cycles", limits.cycles},
          {"cycles_counted", limits.cycles_counted},
          {"cycles_per_fma", limits.cycles_per_fma},
          {"fmas_per_cycle", limits.fmas_per_cycle},
          {"instructions_per_cycle", limits.instructions_per_cycle},
          {"counts", limits.counts},
          {"unavailable", limits.unavailable},
          {"profile", limits.profile ? json_of(*limits.profile) : Json(nullptr)},
          {"because", limits.because}};
}

class WhyCommand : public Command {
 public:
  const char* name() const override { return "why"; }
  const char* summary() const override {
    return "What limits a kernel, or two side by side: ceilings, cycles, counters";
  }
  const char* example() const override {
    return "assay why openblas/sgemm onednn/matmul --shape m=64,n=1024,k=1024,dtype=f32";
  }

  const char* description() const override {
    return "The kernels race alone on one shape. The processor's counters are read after "
           "every claim was timed. Shown are times and shares of the ceilings that were measured "
           "on "
           "this machine: reading memory, and arithmetic. If counters may be read, cycles, "
           "instructions and misses follow. A sentence names the ceiling nearest to each kernel. "
           "On a GPU: waves, occupancy, registers and spills. If Nsight Compute's ncu may read "
           "counters, also what each launch moved through memory, and how busy the tensor pipe "
           "was.";
  }

  void declare(Flags& app) override {
    app.add_option("kernel", words_,
                   "One kernel or two: a name, PROVIDER/NAME, the first digits of an id, or a file")
        .required()
        .expected(1, 2)
        .type_name("KERNEL");
    problems_.declare(app);
    files_.declare_kernels(app, "Files of your own, to find them in");
    app.set_group(FlagGroup::more);
    app.add_option("--ncu", ncu_,
                   "On a GPU: Nsight Compute's ncu, or none (default: ASSAY_NCU, else along the "
                   "PATH, else in CUDA's folders)")
        .type_name("FILE");
    app.set_group(FlagGroup::output);
    app.add_option("--output-dir", folder_,
                   "Where the record goes (default: runs/<n>-why-<kernel>)")
        .type_name("DIR");
    options_.declare(app);
  }

  Result<int> run(Context& context) override {
    std::vector<std::string> named;
    for (const std::string& word : words_)
      (names_file(word) ? files_.words : named).push_back(word);
    const auto read = read_sources(files_.all());
    if (!context.device_named) {
      ASSAY_TRY(context.venue.gpu, device_for(read, named));
    }
    ASSAY_TRY(sweep::Request request, options_.make_request(context, "why"));
    if (problems_.empty())
      return fail(ErrorCode::invalid_input,
                  "why: on which shape? Give --shape m=16,n=4096,k=4096,dtype=f32");
    if (!read) return fail(read.error());
    ASSAY_TRY(problems_.complete(context.console, *read));
    ASSAY_TRY(const input::Suite suite, problems_.read(""));
    // Ceilings are of the window in which a shape was timed, and a record keeps the last one's.
    if (suite.problems.size() != 1)
      return fail(ErrorCode::invalid_input,
                  "why looks at one shape, and was given {}; name one by --shape or --shapes",
                  suite.problems.size());
    request.question.problems = suite.problems;
    request.question.suite = suite.name;
    // A file that is named is both where to look and what is meant.
    std::vector<std::vector<std::string>> families(words_.size());
    bring_first(request, *read);
    for (size_t i = 0, file = 0; i < words_.size(); ++i)
      if (names_file(words_[i])) families[i] = request.pool.kernels[file++].families();
    request.effort.exhaustive = true;
    request.pool.build = 0;
    request.effort.count_events = true;
    request.keep.folder = folder_;
    if (request.venue.is_gpu()) {
      ASSAY_TRY(FoundNcu ncu, find_ncu(ncu_, context.settings));
      request.effort.ncu = std::move(ncu.program);
      request.effort.no_ncu = std::move(ncu.missing);
    }
    std::vector<KernelMetadata> chosen;
    for (size_t i = 0; i < words_.size(); ++i) {
      ASSAY_TRY(KernelMetadata kernel, find_kernel(request, words_[i], families[i]));
      chosen.push_back(std::move(kernel));
    }
    if (chosen.size() == 2 && chosen[0].id() == chosen[1].id())
      return fail(ErrorCode::invalid_input, "'{}' and '{}' are the same kernel",
                  sanitize(words_[0], 200), sanitize(words_[1], 200));
    ASSAY_TRY(const DeviceLock held, hold_device(context, request));
    narrow(request, chosen);
    if (folder_.empty())
      request.keep.folder = next_run_folder("why-" + folder_part(chosen.front()));
    ASSAY_TRY(const FinishedRun run, run_request(context, request, Keep::everything));
    return show(context.console, run, chosen);
  }

 private:
  // The first against the second, from the samples that the record holds.
  static std::optional<stats::Verdict> verdict(const RunRecord& record,
                                               const ProblemRecord& problem,
                                               const std::vector<KernelMetadata>& chosen) {
    const Confirmation* confirmation = problem.decisive();
    if (chosen.size() < 2 || confirmation == nullptr) return std::nullopt;
    for (const KernelMetadata& kernel : chosen) {
      const KernelOutcome* outcome = problem.find(kernel.id());
      if (outcome == nullptr || !is_timed(outcome->ending)) return std::nullopt;
    }
    return judge_pair(problem, *confirmation, record.options, chosen[0].id(), chosen[1].id());
  }

  // Why the race refused it, whose only kernels were those that were named.
  static std::string refusal_of(const ProblemRecord& problem, const KernelMetadata& kernel) {
    std::vector<std::pair<std::string, std::string>> reasons;
    for (const auto& [reason, refusal] : problem.refusals)
      if (reason != to_string(Reason::filter)) reasons.emplace_back(reason, refusal.example);
    // Of two that were refused, sentences name who it was where they are the race's own.
    if (reasons.size() > 1)
      std::erase_if(reasons, [&](const auto& reason) {
        return reason.second.find(kernel.name()) == std::string::npos;
      });
    if (reasons.size() != 1)
      return fmt::format(
          "`assay kernels --why --filter \"name == '{}'\"` with the same --shape "
          "says why",
          kernel.name());
    return reasons.front().second;
  }

  static std::vector<Limits> limits(const RunRecord& record, const ProblemRecord& problem,
                                    const std::vector<KernelMetadata>& chosen) {
    std::vector<Limits> all;
    for (const KernelMetadata& kernel : chosen) {
      if (const KernelOutcome* outcome = problem.find(kernel.id())) {
        all.push_back(limits_of(record, problem, *outcome));
      } else {
        Limits& refused = all.emplace_back();
        refused.id = kernel.id();
        refused.label = kernel.provider() + "/" + kernel.name();
        refused.threads = 0;
        refused.failure = "takes no part: " + refusal_of(problem, kernel);
      }
    }
    return all;
  }

  static Result<int> show(Console& console, const FinishedRun& run,
                          const std::vector<KernelMetadata>& chosen) {
    const int code = timed_exit_code(run.record);
    const report::TextStyle style{console.width_out(), console.colour_out()};
    std::string text;
    Json problems = Json::array();
    for (const ProblemRecord& problem : run.record.problems) {
      const std::vector<Limits> all = limits(run.record, problem, chosen);
      const auto judged = verdict(run.record, problem, chosen);
      text += problem.name + "\n" + report::why_text(all, style);
      if (judged) {
        const std::string line = sanitize(all[0].label, 240) + " is " +
                                 report::verdict_sentence(*judged, sanitize(all[1].label, 240));
        text += line_text({"verdict", line}, style);
      }
      text += evidence_text(problem, style);
      Json kernels = Json::array();
      for (const Limits& one : all) kernels.push_back(json_of(one));
      problems.push_back({{"name", problem.name},
                          {"condition", problem.condition.to_string()},
                          {"kernels", std::move(kernels)},
                          {"verdict", judged ? assay::to_json(*judged) : Json(nullptr)}});
    }
    text += warning_text(run.record.environment, style);
    console.result(console.json() ? dump_pretty({{"schema", "assay.why/1"},
                                                 {"warnings", run.record.environment.warnings},
                                                 {"record", run.files.record},
                                                 {"problems", std::move(problems)},
                                                 {"exit_code", code}})
                                  : text + line_text({"record", run.files.record}, style));
    return code;
  }

  std::vector<std::string> words_;
  KernelFiles files_;
  std::string folder_, ncu_;
  ProblemFlags problems_;
  RaceOptions options_;
};

}  // namespace

std::unique_ptr<Command> make_why_command() { return std::make_unique<WhyCommand>(); }

}  // namespace assay::cli
