#include <fmt/format.h>

#include "assay/base/file.h"
#include "assay/base/text.h"
#include "assay/compare/compare.h"
#include "assay/compare/recompute_attempt.h"
#include "assay/profiler/tool.h"
#include "assay/report/compare_report.h"
#include "assay/report/gate_report.h"
#include "cli/exit_code.h"
#include "cli/files/run_files.h"
#include "cli/flags/problem_flags.h"
#include "cli/flags/quantities.h"
#include "cli/flags/race_options.h"

namespace assay::cli {
namespace {

class CompareCommand : public Command {
 public:
  const char* name() const override { return "compare"; }
  const char* summary() const override {
    return "Set results side by side: speed-ups, verdicts, claims";
  }
  const char* example() const override {
    return "assay compare --baseline artifacts/decode/openblas_results.json --providers "
           "artifacts/decode/native_cpu_results.json";
  }

  const char* description() const override {
    return "Results of one provider are the baseline; the others' are set beside it, shape by "
           "shape. Where both sides name the record of one race, the verdict is judged again from "
           "its samples, with an interval; bare numbers give a ratio that proves nothing. By "
           "itself "
           "it claims nothing: --require, --expect-within and --against-previous are claims, and a "
           "refuted one is exit 1. A provider that lacks a shape of the baseline is exit 3.";
  }

  void declare(Flags& app) override {
    app.add_option("--baseline", baseline_,
                   fmt::format("Results to compare with (default: {}/{})", profiler::kFolder,
                               profiler::kResultsFile))
        .type_name("FILE");
    app.add_option("--providers", providers_,
                   "Results of others: JSON, or a cutlass_profiler report (.csv)")
        .type_name("FILE");
    app.add_flag("--include-default-triton", triton_,
                 fmt::format("Also {} beside the baseline", results_file_name("triton")));
    app.add_option("--margin", margin_, "The difference that matters")
        .type_name("SHARE")
        .show_default();
    app.add_option("--require", require_,
                   "Claim: each of these beats the baseline everywhere by the margin")
        .type_name("PROVIDER");
    app.add_flag("--proven", proven_, "Bare numbers hold no claim up");
    app.add_option("--expect-within", within_, "Claim: no further behind the baseline than this")
        .type_name("P=5%");
    app.add_option("--against-previous", previous_,
                   "Claim: no regression against this comparison.json or results file")
        .type_name("FILE");
    app.add_flag("--require-current", current_, "Results of another machine or library are stale");
    app.add_option("--format", format_,
                   "Claims for a workflow: github's annotations, or JUnit's XML")
        .one_of({"github", "junit"})
        .type_name("FORMAT");
    app.add_option("--output", output_,
                   "Where to write (default: comparison.json beside the baseline)")
        .type_name("FILE");
    app.add_option("--recompute", records_,
                   "Make every word of these records again from its samples")
        .type_name("RECORD");
    app.add_option("--suite", suite_, "Whose names the rows of a .csv get, by their sizes")
        .type_name("SUITE|FILE");
  }

  Result<int> run(Context& context) override {
    if (!records_.empty()) {
      if (!baseline_.empty() || !providers_.empty() || triton_)
        return fail(
            ErrorCode::invalid_input,
            "--recompute checks records by themselves; give it without --baseline and --providers");
      return recompute_records(context.console);
    }
    if (!format_.empty() && context.console.json())
      return fail(ErrorCode::invalid_input,
                  "--format and --json are two forms of one answer; give one");
    ASSAY_TRY(const CompareOptions options, read_options(context));
    ASSAY_TRY(const auto names, named_sizes(suite_));
    const std::filesystem::path baseline =
        baseline_.empty() ? std::filesystem::path(profiler::kFolder) / profiler::kResultsFile
                          : std::filesystem::path(baseline_);
    ASSAY_TRY(check_output(output_path(baseline)));
    ASSAY_TRY(const ResultsFile first, load_results_file(baseline.string(), names));
    std::vector<ResultsFile> others;
    for (const std::string& path : provider_files(baseline)) {
      ASSAY_TRY(others.emplace_back(), load_results_file(path, names));
    }
    if (others.empty())
      return fail(ErrorCode::invalid_input,
                  "compare: nothing to compare with {}; give --providers FILE...",
                  baseline.string());
    RecordFiles records;
    ASSAY_TRY(const Comparison comparison, compare(first, others, records.lookup(), options));
    ASSAY_TRY(write_comparison(output_path(baseline), comparison));
    context.console.result(shown(comparison, context.console));
    context.console.note(fmt::format("wrote {}", output_path(baseline)));
    return exit_code(comparison);
  }

 private:
  std::string shown(const Comparison& comparison, const Console& console) const {
    if (console.json()) return dump_pretty(summary_json(comparison));
    if (format_ == "junit") {
      std::vector<std::string> problems = comparison.missing;
      for (const std::string& text : comparison.stale) problems.push_back("stale: " + text);
      for (const std::string& text : comparison.disputes) problems.push_back("disputed: " + text);
      return report::junit_xml("assay compare", comparison.claims, problems);
    }
    std::string text = report::compare_text(
        comparison, {console.width_out(), console.colour_out(), console.terminal_out()});
    return format_ == "github" ? text + report::github_lines(comparison.claims) : text;
  }

  std::vector<std::string> provider_files(const std::filesystem::path& baseline) const {
    std::vector<std::string> files = providers_;
    if (triton_) files.push_back((baseline.parent_path() / results_file_name("triton")).string());
    return files;
  }

  // An earlier comparison is replaced; nothing else is.
  static Status check_output(const std::string& path) {
    std::error_code ignored;
    if (!std::filesystem::exists(path, ignored)) return {};
    const auto text = read_file(path);
    if (text && text->find(kComparisonSchema) != std::string::npos) return {};
    return fail(ErrorCode::invalid_input,
                "--output: '{}' is there already and is no comparison of assay; name another file",
                sanitize(path, 300));
  }

  std::string output_path(const std::filesystem::path& baseline) const {
    return output_.empty() ? (baseline.parent_path() / "comparison.json").string() : output_;
  }

  Result<CompareOptions> read_options(const Context& context) const {
    CompareOptions options;
    ASSAY_TRY(options.margin, parse_fraction(margin_, "--margin"));
    options.requirements.require = require_;
    options.requirements.proven = proven_;
    for (const std::string& text : within_) {
      ASSAY_TRY(const auto named, parse_named_fraction(text, "--expect-within"));
      if (!options.requirements.expect_within.insert(named).second)
        return fail(ErrorCode::invalid_input, "--expect-within: {} is given twice", named.first);
    }
    if (!previous_.empty()) {
      ASSAY_TRY(options.requirements.previous, load_previous(previous_));
    }
    if (current_) {
      sweep::Request request;
      request.question.kind = "inspect";
      request.pool.cxx = context.settings.cxx;
      request.caller.environment = context.settings.child_environment;
      request.caller.cancel_fd = context.cancel_fd;
      request.keep.cache = context.settings.cache;
      ASSAY_TRY(request.pool.providers, request_providers(context, {}, request.pool.cxx));
      ASSAY_TRY(const sweep::MachineReport machine,
                sweep::inspect(request, sweep::Inspection::brief));
      options.current = machine.environment;
    }
    return options;
  }

  // The record of a run, or of a lab's attempt.
  static Result<std::vector<Difference>> recompute_file(const std::string& path) {
    ASSAY_TRY(const std::string text, read_file(path));
    if (text.find(kAttemptRecordSchema) != std::string::npos) {
      ASSAY_TRY(const AttemptRecord attempt, load_attempt_record(path));
      return recompute(attempt);
    }
    ASSAY_TRY(const RunRecord record, load_record(path));
    return recompute(record);
  }

  Result<int> recompute_records(Console& console) const {
    Json list = Json::array();
    std::string text;
    bool differs = false;
    for (const std::string& path : records_) {
      const auto again = recompute_file(path);
      if (!again && again.error().code == ErrorCode::not_found)
        return fail(ErrorCode::missing, "{}", again.error().message);
      if (!again) return fail(again.error());
      const std::vector<Difference>& differences = *again;
      differs |= !differences.empty();
      text +=
          report::recompute_text(path, differences, {console.width_out(), console.colour_out()});
      Json found = Json::array();
      for (const Difference& difference : differences)
        found.push_back({{"problem", difference.problem},
                         {"what", difference.what},
                         {"recorded", difference.recorded},
                         {"recomputed", difference.recomputed}});
      list.push_back({{"record", path}, {"differences", std::move(found)}});
    }
    const int code = differs ? kRefuted : kDone;
    console.result(console.json() ? dump_pretty({{"schema", "assay.recompute/1"},
                                                 {"records", std::move(list)},
                                                 {"exit_code", code}})
                                  : text);
    return code;
  }

  std::string baseline_, margin_ = "1%", previous_, output_, suite_, format_;
  std::vector<std::string> providers_, require_, within_, records_;
  bool triton_ = false, proven_ = false, current_ = false;
};

}  // namespace

std::unique_ptr<Command> make_compare_command() { return std::make_unique<CompareCommand>(); }

}  // namespace assay::cli
