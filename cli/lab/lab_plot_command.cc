#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "assay/base/counted.h"
#include "assay/base/file.h"
#include "assay/base/json.h"
#include "assay/base/text.h"
#include "assay/report/attempt_plot.h"
#include "cli/exit_code.h"
#include "cli/lab/lab_commands.h"
#include "cli/lab/lab_drawing.h"
#include "cli/lab/png.h"

namespace assay::cli {
namespace {

class LabPlotCommand : public Command {
 public:
  const char* name() const override { return "plot"; }
  const char* summary() const override { return "Draw a case's attempts and the best kept so far"; }
  const char* example() const override { return "assay lab plot --output climb.svg"; }
  const char* description() const override {
    return "Writes an SVG file, or the same as a PNG where the name ends in .png (by "
           "rsvg-convert). "
           "A file that is there is written anew.";
  }

  void declare(Flags& app) override {
    case_.declare(app);
    app.add_option("--output", output_, "Where (default: runs/plot.svg of the case)")
        .type_name("FILE");
    app.add_option("--run-tag", run_tag_, "Only of this climb").type_name("NAME");
  }

  Result<int> run(Context& context) override {
    ASSAY_TRY(const LabPlace place, case_.find());
    ASSAY_TRY(const lab::HistoryContent content, history_of(context, place));
    const report::AttemptPlot plot = plot_of(place, content, run_tag_);
    if (plot.points.empty())
      return fail(ErrorCode::not_found,
                  "there is no attempt to draw yet; `assay lab eval` makes the baseline");
    const std::string svg = report::attempt_svg(plot);
    const std::string path = output_.empty() ? (place.runs() / "plot.svg").string() : output_;
    ASSAY_TRY(path.ends_with(".png") ? write_png(context, svg, path)
                                     : write_file_atomic(path, svg));
    if (context.console.json())
      context.console.result(dump_pretty(
          {{"schema", "assay.lab_plot/1"}, {"file", path}, {"attempts", plot.points.size()}}));
    else
      context.console.result(fmt::format("plot      {}, {}\n", sanitize(path, 300),
                                         counted(std::ssize(plot.points), "attempt")));
    return kDone;
  }

 private:
  static Status write_png(const Context& context, const std::string& svg, const std::string& path) {
    const auto png = png_of(context, svg);
    if (png) return write_file_atomic(path, *png);
    if (png.error().code != ErrorCode::unsupported) return fail(png.error());
    return fail(ErrorCode::unsupported, "--output: {}; name a file that ends in .svg",
                png.error().message);
  }

  CaseFlag case_;
  std::string output_, run_tag_;
};

}  // namespace

std::unique_ptr<Command> make_lab_plot_command() { return std::make_unique<LabPlotCommand>(); }

}  // namespace assay::cli
