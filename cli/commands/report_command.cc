#include <filesystem>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "assay/base/file.h"
#include "assay/base/text.h"
#include "assay/report/run_report.h"
#include "assay/report/sweep_report.h"
#include "cli/command.h"
#include "cli/exit_code.h"
#include "cli/files/find_record.h"
#include "cli/show/summary.h"

namespace assay::cli {
namespace {

class ReportCommand : public Command {
 public:
  const char* name() const override { return "report"; }
  const char* summary() const override {
    return "Show a finished run: markdown, CSV, or one page of HTML";
  }
  const char* example() const override {
    return "assay report artifacts/decode --format html --output decode.html";
  }

  void declare(Flags& app) override {
    app.add_option("run", run_, "The folder of a run, or its record.json")
        .required()
        .type_name("RUN");
    app.add_option("--beside", beside_,
                   "Runs of the same problems under other conditions; a verdict whose sign differs "
                   "there is marked")
        .type_name("RUN...");
    app.add_option("--format", format_, "md, csv or html (default: as --output ends, else md)")
        .one_of({"md", "csv", "html"})
        .type_name("FORMAT");
    app.add_option("--output", output_, "Where to write (default: stdout)").type_name("FILE");
  }

  Result<int> run(Context& context) override {
    ASSAY_TRY(const std::string format, choose_format(context.console.json()));
    ASSAY_TRY(check_output());
    ASSAY_TRY(const std::string path, find_record(run_));
    ASSAY_TRY(const RunRecord record, load_record(path));
    std::vector<RunRecord> beside;
    for (const std::string& other : beside_) {
      ASSAY_TRY(const std::string other_path, find_record(other));
      ASSAY_TRY(beside.emplace_back(), load_record(other_path));
    }
    if (!beside.empty() && format != "html" && format != "md")
      return fail(ErrorCode::invalid_input, "--beside is for reports as md or html, not {}",
                  format);
    const std::string text = format == "html"  ? report::run_html(record, {path, beside})
                             : format == "csv" ? report::sweep_csv(record)
                             : format == "json"
                                 ? dump_pretty(summary_json(record, {path, {}}, kDone))
                                 : report::run_markdown(record, {path, beside});
    if (output_.empty()) {
      context.console.result(text);
      return kDone;
    }
    ASSAY_TRY(write_file_atomic(output_, text));
    context.console.note("wrote " + output_);
    return kDone;
  }

 private:
  Result<std::string> choose_format(bool json) const {
    if (json) {
      if (format_.empty() && output_.empty()) return std::string("json");
      return fail(ErrorCode::invalid_input,
                  "--json prints the run's summary; leave --format and --output out");
    }
    if (!format_.empty()) return format_;
    const std::string extension = std::filesystem::path(output_).extension().string();
    if (output_.empty() || extension == ".md") return std::string("md");
    if (extension == ".csv") return std::string("csv");
    if (extension == ".html" || extension == ".htm") return std::string("html");
    return fail(ErrorCode::invalid_input,
                "--output: '{}' does not say which format; give --format md, csv or html",
                sanitize(output_, 300));
  }

  // An earlier report is replaced; nothing else is.
  Status check_output() const {
    std::error_code ignored;
    if (output_.empty() || !std::filesystem::exists(output_, ignored)) return {};
    const auto text = read_file(output_);
    if (text && report::is_report(*text)) return {};
    return fail(ErrorCode::invalid_input,
                "--output: '{}' is there already and is no report of assay; name another file",
                sanitize(output_, 300));
  }

  std::string run_, format_, output_;
  std::vector<std::string> beside_;
};

}  // namespace

std::unique_ptr<Command> make_report_command() { return std::make_unique<ReportCommand>(); }

}  // namespace assay::cli
