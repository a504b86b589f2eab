#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "assay/base/choices.h"
#include "assay/base/text.h"
#include "assay/record/profiler_csv.h"
#include "cli/exit_code.h"
#include "cli/export/export_mode.h"
#include "cli/files/new_file.h"
#include "cli/files/result_source.h"

namespace assay::cli {
namespace {

class ExportFormat : public ExportMode {
 public:
  const char* flag() const override { return "--format"; }

  void declare(Flags& app) override {
    app.add_option("--format", format_,
                   "The best kernel of each provider on every shape, as a cutlass_profiler report "
                   "or as provider results (default output: stdout)")
        .one_of({"cutlass-csv", "json"})
        .type_name("cutlass-csv|json");
    app.add_option("--provider", provider_, "With --format: of this provider alone")
        .type_name("PROVIDER");
  }

  bool asked() const override { return !format_.empty(); }
  const char* idle_flag() const override { return provider_.empty() ? nullptr : "--provider"; }

  Result<int> run(Context& context, const ExportRequest& request) override {
    const Console& console = context.console;
    if (request.source.empty())
      return fail(ErrorCode::invalid_input,
                  "export: of what? Name a run's folder, a record or a file of results");
    const bool csv = format_ == "cutlass-csv";
    if (csv && console.json() && request.output.empty())
      return fail(ErrorCode::invalid_input,
                  "--json and --format cutlass-csv both want stdout; give --output FILE");
    ASSAY_TRY(auto list,
              load_results(request.source, std::filesystem::path(request.output).parent_path()));
    ASSAY_TRY(choose_provider(list, request.source));
    if (!csv && list.size() > 1)
      return fail(ErrorCode::invalid_input,
                  "{} has results of {}; a JSON file holds those of one: add --provider NAME",
                  sanitize(request.source, 300), names(list));
    std::string text;
    if (csv) {
      ASSAY_TRY(text, profiler_csv(list));
    } else {
      text = dump_pretty(to_json(list.front()));
    }
    if (request.output.empty()) {
      context.console.result(text);
      return kDone;
    }
    ASSAY_TRY(write_new_file(request.output, text, "--output"));
    std::size_t count = 0, failed = 0;
    for (const ProviderResults& one : list) {
      count += one.results.size();
      failed += one.failed.size();
    }
    if (console.json()) {
      context.console.result(dump_pretty({{"schema", "assay.export/1"},
                                          {"format", format_},
                                          {"output", request.output},
                                          {"results", count},
                                          {"failed", failed}}));
      return kDone;
    }
    std::string said = fmt::format("wrote {}: {} result{} of {}\n", sanitize(request.output, 1000),
                                   count, count == 1 ? "" : "s", names(list));
    if (csv && failed > 0)
      said += fmt::format("{} without a result {} no row\n", failed, failed == 1 ? "has" : "have");
    context.console.result(said);
    return kDone;
  }

 private:
  static std::string names(const std::vector<ProviderResults>& list) {
    std::vector<std::string> names;
    for (const ProviderResults& one : list) names.push_back(one.provider);
    return join(names, ", ");
  }

  Status choose_provider(std::vector<ProviderResults>& list, const std::string& source) const {
    if (provider_.empty()) return {};
    std::vector<std::string> known;
    for (const ProviderResults& one : list) known.push_back(one.provider);
    std::erase_if(list, [&](const ProviderResults& one) { return one.provider != provider_; });
    if (!list.empty()) return {};
    return fail(ErrorCode::invalid_input, "--provider: {} has no results of '{}'{}",
                sanitize(source, 300), sanitize(provider_, 80),
                did_you_mean(provider_, known, "it has " + join(known, ", ")));
  }

  std::string format_, provider_;
};

}  // namespace

std::unique_ptr<ExportMode> make_export_format() { return std::make_unique<ExportFormat>(); }

}  // namespace assay::cli
