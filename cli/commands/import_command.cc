#include <filesystem>
#include <map>

#include <fmt/format.h>

#include "assay/base/file.h"
#include "assay/base/text.h"
#include "assay/record/profiler_csv.h"
#include "assay/report/words.h"
#include "cli/command.h"
#include "cli/exit_code.h"
#include "cli/files/new_file.h"
#include "cli/files/run_files.h"
#include "cli/flags/problem_flags.h"

namespace assay::cli {
namespace {

// Rows by how they ended: "passed", "incorrect" ...; "ran" where the report does not say.
std::map<std::string, std::int64_t> endings(const ProfilerReport& report) {
  std::map<std::string, std::int64_t> counts;
  for (const ProfilerRow& row : report.rows) {
    std::string word = row.disposition.empty() ? "ran" : sanitize(row.disposition, 40);
    if (!row.usable() && (word == "ran" || word == "passed" || word == "not_verified"))
      word =
          row.status.empty() || row.status == "success" ? "without time" : sanitize(row.status, 40);
    ++counts[word];
  }
  return counts;
}

class ImportCommand : public Command {
 public:
  const char* name() const override { return "import"; }
  const char* summary() const override {
    return "Make provider results of a cutlass_profiler report (CSV)";
  }
  const char* example() const override {
    return "assay import sweep.gemm.csv --suite transformer --output artifacts/cutlass.json";
  }

  void declare(Flags& app) override {
    app.add_option("file", file_, "The report").required().type_name("FILE");
    app.add_option("--provider", provider_,
                   "Whose rows, where the report has several providers' (default: its own name, "
                   "else cutlass)")
        .type_name("PROVIDER");
    app.add_option("--output", output_,
                   "Where the results go (default: <provider>_results.json beside the report); "
                   "nothing is overwritten")
        .type_name("FILE");
    app.add_option("--suite", suite_, "Whose names the rows get, by their sizes")
        .type_name("SUITE|FILE");
  }

  Result<int> run(Context& context) override {
    if (!file_.ends_with(".csv"))
      return fail(ErrorCode::invalid_input,
                  "import: '{}' does not end in .csv; results in JSON need no import: `assay "
                  "compare` and `assay export` read them",
                  sanitize(file_, 300));
    if (!provider_.empty() && !matches_name_rule(provider_))
      return fail(
          ErrorCode::invalid_input,
          "--provider: '{}' cannot be a name; use letters, digits, '_', '.' and '-', at most 200",
          sanitize(provider_, 80));
    ASSAY_TRY(const auto names, named_sizes(suite_));
    ASSAY_TRY(const std::string text, read_file(file_));
    ASSAY_TRY(const ProfilerReport report, read_profiler_csv(text, file_));
    ASSAY_TRY(const ProviderResults results, best_rows(report, names, provider_, file_));
    const std::string output =
        output_.empty()
            ? (std::filesystem::path(file_).parent_path() / results_file_name(results.provider))
                  .string()
            : output_;
    ASSAY_TRY(write_new_file(output, dump_pretty(to_json(results)), "--output"));
    const int code = results.results.empty() ? kRefuted : kDone;
    const auto rows = endings(report);
    if (context.console.json()) {
      context.console.result(dump_pretty({{"schema", "assay.import/1"},
                                          {"provider", results.provider},
                                          {"output", output},
                                          {"rows", rows},
                                          {"results", results.results.size()},
                                          {"failed", results.failed},
                                          {"reasons", results.reasons},
                                          {"exit_code", code}}));
      return code;
    }
    std::vector<std::string> counts;
    for (const auto& [word, count] : rows)
      counts.push_back(fmt::format("{} {}", report::thousands(count), word));
    std::string said =
        fmt::format("wrote {}: {} problem{} of {}, from {} row{}{}\n", sanitize(output, 1000),
                    results.results.size(), results.results.size() == 1 ? "" : "s",
                    results.provider, report.rows.size(), report.rows.size() == 1 ? "" : "s",
                    counts.empty() ? "" : ": " + join(counts, ", "));
    if (!results.failed.empty())
      said += fmt::format("without a usable row: {}\n", join(results.failed, ", "));
    for (const auto& [problem, why] : results.reasons)
      said += fmt::format("{}: {}\n", problem, sanitize(why, 400));
    context.console.result(said);
    return code;
  }

 private:
  std::string file_, provider_, output_, suite_;
};

}  // namespace

std::unique_ptr<Command> make_import_command() { return std::make_unique<ImportCommand>(); }

}  // namespace assay::cli
