#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "assay/base/json.h"
#include "assay/base/text.h"
#include "assay/report/attempt_report.h"
#include "assay/report/words.h"
#include "cli/exit_code.h"
#include "cli/lab/lab_commands.h"
#include "cli/lab/lab_place.h"

namespace assay::cli {
namespace {

class LabShowCommand : public Command {
 public:
  const char* name() const override { return "show"; }
  const char* summary() const override { return "One attempt: its stages, its metrics, its claim"; }
  const char* example() const override { return "assay lab show 12"; }

  void declare(Flags& app) override { attempt_.declare(app); }

  Result<int> run(Context& context) override {
    ASSAY_TRY(const auto found, attempt_.find(context));
    ASSAY_TRY(const AttemptRecord record, load_record_of(found.place, found.attempt));
    if (context.console.json()) {
      context.console.result(dump_pretty(to_json(record)));
      return kDone;
    }
    const report::TextStyle style = style_of(context.console);
    std::string text = report::attempt_text(record, style);
    if (!record.hypothesis.empty())
      text += fmt::format("because   {}\n", sanitize(record.hypothesis, 320));
    for (const auto& [name, value] : record.env)
      text += fmt::format("env       {}={}\n", name, sanitize(value, 200));
    text += stages(record, style) + metrics(record, style);
    context.console.result(text);
    return kDone;
  }

 private:
  static std::string stages(const AttemptRecord& record, const report::TextStyle& style) {
    report::Table table;
    table.columns = {{"stage"},
                     {"outcome"},
                     {"took", report::Align::right},
                     {"reason", report::Align::left, 20}};
    for (const AttemptStage& stage : record.stages) {
      report::Table::Row row;
      row.cells = {{stage.name},
                   {stage.outcome},
                   {stage.seconds > 0 ? report::seconds_text(stage.seconds) : "-"},
                   {sanitize(stage.reason, 300)}};
      table.rows.push_back(std::move(row));
    }
    return table.rows.empty() ? "" : '\n' + report::text_table(table, style);
  }

  static std::string metrics(const AttemptRecord& record, const report::TextStyle& style) {
    report::Table table;
    table.columns = {{"metric"}, {"value", report::Align::right}, {"unit"}};
    for (const auto& [name, metric] : record.metrics) {
      report::Table::Row row;
      row.cells = {{sanitize(name, 100)}, {report::significant(metric.value)}, {metric.unit}};
      table.rows.push_back(std::move(row));
    }
    return table.rows.empty() ? "" : '\n' + report::text_table(table, style);
  }

  AttemptFlag attempt_;
};

}  // namespace

std::unique_ptr<Command> make_lab_show_command() { return std::make_unique<LabShowCommand>(); }

}  // namespace assay::cli
