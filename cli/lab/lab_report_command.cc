#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "assay/base/counted.h"
#include "assay/base/file.h"
#include "assay/base/json.h"
#include "assay/base/text.h"
#include "cli/exit_code.h"
#include "cli/lab/lab_commands.h"
#include "cli/lab/lab_drawing.h"

namespace assay::cli {
namespace {

class LabReportCommand : public Command {
 public:
  const char* name() const override { return "report"; }
  const char* summary() const override {
    return "A case's climb as a page: plot, attempts, changes";
  }
  const char* example() const override { return "assay lab report"; }
  const char* description() const override {
    return "Writes one self-contained HTML file. The one in the case's runs/ is written anew after "
           "each attempt, once it is there.";
  }

  void declare(Flags& app) override {
    case_.declare(app);
    app.add_option("--output", output_, "Where (default: runs/report.html of the case)")
        .type_name("FILE");
  }

  Result<int> run(Context& context) override {
    ASSAY_TRY(const LabPlace place, case_.find());
    ASSAY_TRY(const lab::HistoryContent content, history_of(context, place));
    if (content.attempts.empty())
      return fail(ErrorCode::not_found,
                  "there is no attempt to report yet; `assay lab eval` makes the baseline");
    ASSAY_TRY(const std::string page, report_page(context, place, content));
    const std::string path = output_.empty() ? report_file(place) : output_;
    ASSAY_TRY(write_file_atomic(path, page));
    if (context.console.json())
      context.console.result(dump_pretty({{"schema", "assay.lab_report/1"},
                                          {"file", path},
                                          {"attempts", content.attempts.size()}}));
    else
      context.console.result(fmt::format("report    {}, {}\n", sanitize(path, 300),
                                         counted(std::ssize(content.attempts), "attempt")));
    return kDone;
  }

 private:
  CaseFlag case_;
  std::string output_;
};

}  // namespace

std::unique_ptr<Command> make_lab_report_command() { return std::make_unique<LabReportCommand>(); }

}  // namespace assay::cli
