#include <optional>
#include <string_view>

#include <fmt/format.h>

#include "assay/base/file.h"
#include "assay/base/json.h"
#include "assay/report/table.h"
#include "cli/exit_code.h"
#include "cli/flags/number.h"
#include "cli/load/load_axis.h"
#include "cli/load/load_commands.h"
#include "cli/load/load_flags.h"
#include "cli/load/load_page.h"
#include "cli/load/load_table.h"
#include "cli/load/run_plan.h"

namespace assay::cli {
namespace {

// One load of the sweep.
struct Point {
  double load = 0;
  load::Judged judged;

  double figure(const char* name) const { return judged.metrics.find(name).value_or(0); }
  double latency_ms() const { return figure("e2e_incl_queue_ms.mean"); }
  // Throughput over latency: its maximum is the knee (Kleinrock, "Power and deterministic rules of
  // thumb for probabilistic problems in computer communications", 1979).
  double power() const {
    return latency_ms() > 0 ? figure("request_throughput") / latency_ms() : 0;
  }
};

class LoadSweepCommand : public Command {
 public:
  const char* name() const override { return "sweep"; }
  const char* summary() const override { return "Latency over throughput, load by load"; }
  const char* example() const override {
    return "assay load sweep --base-url http://127.0.0.1:8000 --loads 1,2,4,8,16,32";
  }
  const char* description() const override {
    return "Runs each load once and marks the knee: the load with the most throughput per latency. "
           "Loads that were run are kept, and told, when the sweep is interrupted.";
  }

  void declare(Flags& app) override {
    flags_.declare(app);
    app.set_group(FlagGroup::measuring);
    app.add_option("--loads", loads_, "The loads, commas between")
        .type_name("LOAD")
        .delimiter(',')
        .several_words(false);
    axis_.declare(app);
    app.set_group(FlagGroup::output);
    app.add_option("--output", output_, "Gets the sweep as JSON").type_name("FILE");
    app.add_option("--html", html_, "Gets the sweep as a page").type_name("FILE");
  }

  Result<int> run(Context& context) override {
    std::vector<double> loads;
    for (const std::string& text : loads_) {
      ASSAY_TRY(const double load, parse_number(text, "--loads", 1e-3, 65536));
      loads.push_back(load);
    }
    if (loads.empty()) loads = {1, 2, 4, 8, 16, 32, 64};
    ASSAY_TRY(const std::string base_url, flags_.base_url());
    ASSAY_TRY(const load::LoadPlan plan, flags_.plan(context, base_url));
    std::vector<Point> points;
    std::vector<load::Judged> runs;
    std::optional<Error> ended;
    for (const double load : loads) {
      auto point = measure_load(context, plan, load);
      if (!point) {
        ended = std::move(point).error();
        break;
      }
      if (!context.console.live())
        context.console.progress(
            fmt::format("{} {:.4g}: {:.4g} requests/s, {:.4g} ms each", axis_.name(), load,
                        point->figure("request_throughput"), point->latency_ms()));
      runs.push_back(point->judged);
      points.push_back(std::move(*point));
    }
    if (ended && points.empty()) return fail(*ended);
    Json json = to_json(points, plan);
    json["whole"] = !ended;
    if (!output_.empty()) ASSAY_TRY(write_file_atomic(output_, dump_pretty(json)));
    if (!html_.empty()) ASSAY_TRY(write_file_atomic(html_, page(points, plan)));
    if (ended && ended->code != ErrorCode::interrupted) return fail(*ended);
    const report::TextStyle style{context.console.width_out(), context.console.colour_out(),
                                  context.console.terminal_out()};
    context.console.result(context.console.json() ? dump_pretty(json) : text(points, style));
    return ended ? kInterrupted : run_code(runs);
  }

 private:
  Result<Point> measure_load(Context& context, const load::LoadPlan& plan, double load) const {
    ASSAY_TRY(load::Judged judged,
              measure_plan(context, flags_, axis_.at(plan, load), plan.seed,
                           fmt::format("sweep, {} {:.4g}", axis_.name(), load)));
    return Point{load, std::move(judged)};
  }

  std::string page(const std::vector<Point>& points, const load::LoadPlan& plan) const {
    std::vector<std::pair<double, load::Judged>> runs;
    for (const Point& point : points) runs.emplace_back(point.load, point.judged);
    return sweep_page(plan, axis_.name(), runs, points[knee(points)].load,
                      output_.empty() ? "the sweep's JSON (--output)" : output_);
  }

  static std::size_t knee(const std::vector<Point>& points) {
    std::size_t best = 0;
    for (std::size_t i = 1; i < points.size(); ++i)
      if (points[i].power() > points[best].power()) best = i;
    return best;
  }

  std::string text(const std::vector<Point>& points, const report::TextStyle& style) const {
    const SpareColumn spare[] = {
        {6, "TPOT p95"}, {8, "whole p95"}, {4, "TTFT p95"}, {5, "TPOT p50"}};
    return fitted_table(table(points), spare, "--output and --html have them", style);
  }

  report::Table table(const std::vector<Point>& points) const {
    report::Table table;
    table.columns.push_back({axis_.name(), report::Align::right});
    for (const char* title : {"req/s", "out tok/s", "TTFT p50", "p95 ms", "TPOT p50", "p95 ms",
                              "whole p50", "p95 ms", "errors", ""})
      table.columns.push_back({title, report::Align::right});
    for (std::size_t i = 0; i < points.size(); ++i) {
      const Point& point = points[i];
      report::Table::Row row;
      const auto add = [&](std::string text, report::Tone tone = report::Tone::plain) {
        row.cells.push_back({std::move(text), tone});
      };
      add(fmt::format("{:g}", point.load));
      for (const char* name :
           {"request_throughput", "output_throughput_tok_s", "ttft_ms.median", "ttft_ms.p95",
            "tpot_ms.median", "tpot_ms.p95", "e2e_incl_queue_ms.median", "e2e_incl_queue_ms.p95"})
        add(fmt::format("{:.4g}", point.figure(name)));
      add(std::to_string(point.judged.metrics.errored));
      const std::string_view doubt = !point.judged.delivered.as_asked ? "not_delivered"
                                     : point.judged.client.limited    ? "client_limited"
                                                                      : "";
      const std::string_view mark = i == knee(points) ? "knee" : "";
      add(fmt::format("{}{}{}", mark, mark.empty() || doubt.empty() ? "" : ", ", doubt),
          doubt.empty() ? report::Tone::good : report::Tone::caution);
      table.rows.push_back(std::move(row));
    }
    return table;
  }

  Json to_json(const std::vector<Point>& points, const load::LoadPlan& plan) const {
    Json list = Json::array();
    for (const Point& point : points)
      list.push_back({{"load", point.load}, {"run", load::judged_json(point.judged)}});
    return {{"schema", "assay.load_sweep/1"},
            {"over", axis_.name()},
            {"plan", load::plan_json(plan)},
            {"knee", points[knee(points)].load},
            {"points", list}};
  }

  LoadFlags flags_;
  std::vector<std::string> loads_;
  LoadAxis axis_;
  std::string output_, html_;
};

}  // namespace

std::unique_ptr<Command> make_load_sweep_command() { return std::make_unique<LoadSweepCommand>(); }

}  // namespace assay::cli
