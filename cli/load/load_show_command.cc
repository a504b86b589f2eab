#include <fmt/format.h>

#include "assay/base/json.h"
#include "assay/load/other_tools.h"
#include "assay/load/read_record.h"
#include "assay/load/result.h"
#include "cli/exit_code.h"
#include "cli/load/load_commands.h"
#include "cli/load/load_table.h"
#include "cli/load/run_plan.h"

namespace assay::cli {
namespace {

class LoadShowCommand : public Command {
 public:
  const char* name() const override { return "show"; }
  const char* summary() const override { return "A kept run's figures, made again of its samples"; }
  const char* example() const override { return "assay load show runs/0001-load --as vllm"; }
  const char* description() const override {
    return "With --as, the same run under the names and definitions of another tool, as JSON. With "
           "--samples, what happened to each request, a line of JSON each: times in ns from the "
           "run's begin. The code is 1 if the run was not what was asked, if the client was the "
           "limit, or if no request was answered.";
  }

  void declare(Flags& app) override {
    app.add_option("file", file_, "load.json, or the folder that has it")
        .type_name("FILE")
        .required();
    app.add_option("--as", as_, "Whose names and definitions")
        .one_of({"vllm", "aiperf", "guidellm"});
    app.add_flag("--samples", samples_, "Print the samples");
  }

  Result<int> run(Context& context) override {
    ASSAY_TRY(const load::KeptRun kept, load::read_kept_run(file_));
    if (samples_) {
      if (!as_.empty())
        return fail(ErrorCode::invalid_input, "--samples and --as are two outputs: give one");
      std::string lines;
      for (const auto& traces : kept.runs)
        for (const load::Trace& trace : traces)
          lines += load::trace_line(trace, load::kKeptBegin) + '\n';
      context.console.result(lines);
      return kDone;
    }
    if (!as_.empty()) {
      const auto tool = as_ == "vllm"     ? load::OtherTool::vllm
                        : as_ == "aiperf" ? load::OtherTool::aiperf
                                          : load::OtherTool::guidellm;
      Json all = Json::array();
      for (const auto& traces : kept.runs) all.push_back(load::as_other_tool(tool, traces));
      context.console.result(dump_pretty(all.size() == 1 ? all.front() : all));
      return told(context.console, kept);
    }
    if (context.console.json()) {
      context.console.result(dump_pretty(kept.record.root));
      return told(context.console, kept);
    }
    const report::TextStyle style{context.console.width_out(), context.console.colour_out(),
                                  context.console.terminal_out()};
    std::string text;
    for (const load::Judged& run : kept.judged) {
      text += ending_counts(run.metrics) + '\n' + latency_text(run.metrics, style);
      for (const std::string& sentence : load_warnings(run))
        text += report::coloured(sentence, report::Tone::caution, style) + '\n';
    }
    context.console.result(text);
    return code_of(kept);
  }

 private:
  // Figures of such a run are no better for being shown again.
  static int code_of(const load::KeptRun& kept) {
    return run_code(kept.judged) == kDone ? kDone : kRefuted;
  }

  // Where stdout holds JSON.
  static int told(Console& console, const load::KeptRun& kept) {
    for (const load::Judged& run : kept.judged)
      for (const std::string& sentence : load_warnings(run)) console.note(sentence);
    return code_of(kept);
  }

  std::string file_, as_;
  bool samples_ = false;
};

}  // namespace

std::unique_ptr<Command> make_load_show_command() { return std::make_unique<LoadShowCommand>(); }

}  // namespace assay::cli
