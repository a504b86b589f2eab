#include "cli/commands/shapes_command.h"

#include <fmt/format.h>

#include "assay/base/text.h"
#include "assay/op/operation.h"
#include "assay/report/table.h"
#include "assay/report/words.h"
#include "cli/exit_code.h"
#include "cli/flags/problem_flags.h"

namespace assay::cli {
namespace {

// A problem, and what one call of it costs at least.
struct ShapeRow {
  const Problem& problem;
  Work work;
};

Result<std::vector<ShapeRow>> rows_of(const input::Suite& suite) {
  std::vector<ShapeRow> rows;
  for (const Problem& problem : suite.problems) {
    ASSAY_TRY(const Operation* operation, find_operation(problem.operation()));
    rows.push_back({problem, operation->work(problem)});
  }
  return rows;
}

Json json_of(const ShapeRow& row) {
  Json json = {{"name", row.problem.name()},
               {"role", row.problem.role()},
               {"calls", row.problem.weight()},
               {"flops", row.work.flops},
               {"bytes", row.work.bytes()}};
  for (const auto& [name, size] : row.problem.dimensions()) json[name] = size;
  return json;
}

std::string text_of(const std::vector<ShapeRow>& rows, const report::TextStyle& style) {
  report::Table table;
  table.columns = {{"shape"},
                   {"role", report::Align::left, 4},
                   {"m", report::Align::right},
                   {"n", report::Align::right},
                   {"k", report::Align::right},
                   {"calls", report::Align::right},
                   {"FLOP", report::Align::right},
                   {"bytes", report::Align::right}};
  double flops = 0, bytes = 0;
  for (const ShapeRow& row : rows) {
    const auto size = [&](const char* name) {
      return report::Cell{std::to_string(row.problem.dimension(name))};
    };
    table.rows.push_back({{{row.problem.name()},
                           {row.problem.role()},
                           size("m"),
                           size("n"),
                           size("k"),
                           {fmt::format("{:g}", row.problem.weight())},
                           {format_si(row.work.flops, "")},
                           {format_bytes(row.work.bytes())}},
                          {}});
    flops += row.problem.weight() * row.work.flops;
    bytes += row.problem.weight() * row.work.bytes();
  }
  return report::text_table(table, style) +
         fmt::format("\nall calls: {}, {}\n", format_si(flops, "FLOP"), format_bytes(bytes));
}

class ShapesCommand : public Command {
 public:
  const char* name() const override { return "shapes"; }
  const char* summary() const override {
    return "The shapes of a suite or a model: sizes, calls, FLOP and bytes. Nothing runs";
  }
  const char* example() const override { return "assay shapes --model config.json --batch 16"; }
  const char* description() const override {
    return "FLOP and bytes are of one call: each operand is read once, each output written once.";
  }
  void declare(Flags& app) override { problems_.declare(app); }

  Result<int> run(Context& context) override {
    if (problems_.empty())
      return fail(ErrorCode::invalid_input,
                  "shapes: of what? Give --model config.json, --suite NAME or --shape");
    ASSAY_TRY(const input::Suite suite, problems_.read(""));
    ASSAY_TRY(const auto rows, rows_of(suite));
    for (const std::string& note : problems_.notes()) context.console.note(note);
    if (context.console.json()) {
      Json list = Json::array();
      for (const ShapeRow& row : rows) list.push_back(json_of(row));
      context.console.result(dump_pretty({{"schema", "assay.shapes/1"},
                                          {"suite", suite.name},
                                          {"notes", problems_.notes()},
                                          {"shapes", std::move(list)}}));
      return kDone;
    }
    context.console.result(
        text_of(rows, {context.console.width_out(), context.console.colour_out()}));
    return kDone;
  }

 private:
  ProblemFlags problems_;
};

}  // namespace

std::unique_ptr<Command> make_shapes_command() { return std::make_unique<ShapesCommand>(); }

}  // namespace assay::cli
