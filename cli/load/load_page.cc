#include "cli/load/load_page.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "assay/base/clock.h"
#include "assay/base/counted.h"
#include "assay/base/text.h"
#include "assay/load/arrivals.h"
#include "assay/load/summary.h"
#include "assay/report/chart_page.h"
#include "cli/load/load_table.h"

namespace assay::cli {
namespace {

using report::Chart;
using report::ChartSeries;
using report::Ink;
using Shape = ChartSeries::Shape;

constexpr std::size_t kMostRows = 2000;  // Of the timeline.
constexpr int kShares = 400;             // Steps of a distribution.

std::string title_of(const load::LoadPlan& plan) {
  return fmt::format("assay load: {} at {}", sanitize(plan.shape.model, 100),
                     plan.server.authority());
}

// Values in the order of their size, over the share of them that lies below.
Chart distribution(std::string id, std::string title, std::string y, std::vector<double> values) {
  Chart chart{.id = std::move(id),
              .title = std::move(title),
              .sentence = {},
              .x = "% of them are at or below",
              .y = std::move(y),
              .series = {}};
  if (values.empty()) return chart;
  std::ranges::sort(values);
  ChartSeries& line = chart.series.emplace_back();
  line.name = counted(std::ssize(values), "value");
  for (int i = 0; i <= kShares; ++i) {
    const double share = static_cast<double>(i) / kShares;
    line.points.emplace_back(100 * share, load::quantile(values, share));
  }
  return chart;
}

Chart ttft_chart(std::span<const load::Trace> traces) {
  std::vector<double> values;
  for (const load::Trace& trace : traces)
    if (trace.is_success())
      if (const auto ttft = load::latencies_of(trace).ttft_ms) values.push_back(*ttft);
  return distribution("ttft", "Time to first token", "ms", std::move(values));
}

Chart gap_chart(std::span<const load::Trace> traces) {
  std::vector<double> values;
  for (const load::Trace& trace : traces) {
    if (!trace.is_success()) continue;
    std::vector<std::pair<int, std::int64_t>> last;  // Of each choice.
    for (const load::StreamEvent& event : trace.events) {
      if (event.kind == load::EventKind::other) continue;
      const auto found =
          std::ranges::find(last, event.choice, &std::pair<int, std::int64_t>::first);
      if (found == last.end()) {
        last.emplace_back(event.choice, event.at_ns);
        continue;
      }
      values.push_back(static_cast<double>(event.at_ns - found->second) / kNsPerMs);
      found->second = event.at_ns;
    }
  }
  return distribution("gaps", "Gaps between chunks", "ms", std::move(values));
}

double seconds_from(std::int64_t begin_ns, std::int64_t at_ns) {
  return static_cast<double>(at_ns - begin_ns) / kNsPerSecond;
}

Chart timeline(std::span<const load::Trace> traces, std::int64_t begin_ns) {
  Chart chart{.id = "timeline",
              .title = "Requests",
              .sentence = {},
              .x = "seconds",
              .y = "number of the request",
              .y_from_top = true,
              .series = {}};
  if (traces.size() > kMostRows)
    chart.sentence = fmt::format("The first {} of {}.", kMostRows, traces.size());
  ChartSeries queue{.name = "waits for a slot", .ink = Ink::dim, .shape = Shape::spans};
  ChartSeries wait{.name = "sent, no token yet", .ink = Ink::third, .shape = Shape::spans};
  ChartSeries tokens{.name = "tokens come", .ink = Ink::first, .shape = Shape::spans};
  ChartSeries failed{.name = "no success", .ink = Ink::bad, .shape = Shape::spans};
  for (const load::Trace& trace : traces.first(std::min(traces.size(), kMostRows))) {
    const auto add = [&](ChartSeries& series, std::int64_t from, std::int64_t to) {
      if (from == 0 || to <= from) return;
      series.points.emplace_back(seconds_from(begin_ns, from), seconds_from(begin_ns, to));
      series.heights.push_back(static_cast<double>(trace.number));
    };
    if (trace.queued) add(queue, trace.intended_ns, trace.sent_ns);
    const load::StreamEvent* first = trace.first_token();
    if (!trace.is_success()) {
      add(failed, trace.was_sent() ? trace.sent_ns : trace.intended_ns, trace.end_ns);
    } else {
      add(wait, trace.sent_ns, first ? first->at_ns : trace.end_ns);
      if (first) add(tokens, first->at_ns, trace.end_ns);
    }
  }
  chart.series = {std::move(queue), std::move(wait), std::move(tokens), std::move(failed)};
  return chart;
}

// Of an open loop requests by second, of a closed one how many ran at a time.
Chart delivered(const load::LoadPlan& plan, std::span<const load::Trace> traces,
                std::int64_t begin_ns) {
  Chart chart{.id = "delivered",
              .title = "Delivered against asked",
              .sentence = {},
              .x = "seconds",
              .y = plan.is_open() ? "requests sent, in all" : "requests at a time",
              .series = {}};
  ChartSeries asked{.name = "asked", .ink = Ink::dim}, made{.name = "delivered"};
  double end = 0;
  if (plan.is_open()) {
    std::vector<double> sent, intended;
    for (const load::Trace& trace : traces) {
      intended.push_back(seconds_from(begin_ns, trace.intended_ns));
      if (trace.was_sent()) sent.push_back(seconds_from(begin_ns, trace.sent_ns));
    }
    for (auto& [times, series] : {std::pair{&intended, &asked}, {&sent, &made}}) {
      std::ranges::sort(*times);
      const std::size_t step = std::max<std::size_t>(1, times->size() / kMostRows);
      for (std::size_t i = 0; i < times->size(); i += step)
        series->points.emplace_back((*times)[i], static_cast<double>(i + 1));
    }
  } else {
    const std::vector<load::Step> steps = load::concurrency_steps(traces);
    const std::size_t stride = std::max<std::size_t>(1, steps.size() / kMostRows);
    int before = 0;
    for (std::size_t i = 0; i < steps.size(); i += stride) {
      end = seconds_from(begin_ns, steps[i].at_ns);
      made.points.emplace_back(end, before);
      made.points.emplace_back(end, before = steps[i].running);
    }
    asked.points = {{0, plan.concurrency}, {end, plan.concurrency}};
  }
  chart.series = {std::move(asked), std::move(made)};
  return chart;
}

void add_tiles(const load::Judged& run, report::ChartPage& page) {
  const load::Metrics& metrics = run.metrics;
  page.tiles.emplace_back(std::to_string(metrics.successful), "successful");
  for (const auto& [count, name] : {std::pair{metrics.errored, "errored"},
                                    {metrics.incomplete, "incomplete"},
                                    {metrics.cancelled, "cancelled"}})
    if (count > 0) page.tiles.emplace_back(std::to_string(count), name);
  for (const auto& [key, name] : {std::pair{"request_throughput", "requests/s"},
                                  {"output_throughput_tok_s", "output tokens/s"}})
    if (const auto value = metrics.value(key))
      page.tiles.emplace_back(fmt::format("{:.4g}", *value), name);
}

report::Section figures(const std::vector<load::Judged>& runs) {
  report::Section section{"figures", "Figures", {}};
  for (std::size_t i = 0; i < runs.size(); ++i) {
    report::Block& block = section.blocks.emplace_back();
    if (runs.size() > 1) block.title = fmt::format("Run {}", i + 1);
    block.sentences = load_warnings(runs[i]);
    block.table = latency_table(runs[i].metrics);
    if (std::string note = thin_note(*block.table); !note.empty())
      block.sentences.push_back(std::move(note));
  }
  return section;
}

// Of each load what speaks against it; no section if nothing does.
void add_warnings(const std::string& over, std::span<const std::pair<double, load::Judged>> runs,
                  report::ChartPage& page) {
  report::Section section{"warnings", "What speaks against loads", {}};
  report::Block& block = section.blocks.emplace_back();
  for (const auto& [load, judged] : runs)
    for (const std::string& sentence : load_warnings(judged))
      block.sentences.push_back(fmt::format("{} {:g}: {}", over, load, sentence));
  if (!block.sentences.empty()) page.sections.push_back(std::move(section));
}

// When the first request was sent, if that was ahead of the schedule: a closed loop begins at once.
std::int64_t origin_of(std::span<const load::Trace> traces, std::int64_t begin_ns) {
  for (const load::Trace& trace : traces)
    if (trace.was_sent()) begin_ns = std::min(begin_ns, trace.sent_ns);
  return begin_ns;
}

// Loads in the order of what they brought.
std::vector<double> by_throughput(std::span<const std::pair<double, load::Judged>> runs) {
  std::vector<std::pair<double, double>> all;
  for (const auto& [load, judged] : runs)
    all.emplace_back(judged.metrics.value("request_throughput").value_or(0), load);
  std::ranges::sort(all);
  std::vector<double> loads;
  for (const auto& [throughput, load] : all) loads.push_back(load);
  return loads;
}

}  // namespace

std::string load_page(const load::LoadRecord& record, std::span<const load::Trace> traces,
                      std::int64_t begin_ns, const std::string& record_name) {
  report::ChartPage page;
  page.title = title_of(record.plan);
  page.about = record.created;
  page.record = record_name;
  page.again = "assay load show";
  add_tiles(record.runs.front(), page);
  page.sections.push_back(figures(record.runs));
  const std::int64_t origin_ns = origin_of(traces, begin_ns);
  page.charts = {ttft_chart(traces), gap_chart(traces), delivered(record.plan, traces, origin_ns),
                 timeline(traces, origin_ns)};
  return report::chart_page_html(page);
}

std::string sweep_page(const load::LoadPlan& plan, const std::string& over,
                       std::span<const std::pair<double, load::Judged>> runs, double knee,
                       const std::string& record_name) {
  report::ChartPage page;
  page.title = title_of(plan);
  page.about = fmt::format("{} over {}", counted(std::ssize(runs), "load"), over);
  page.record = record_name;
  page.tiles.emplace_back(fmt::format("{:g}", knee), "is the knee, by " + over);
  add_warnings(over, runs, page);
  Chart chart{
      .id = "sweep",
      .title = "Latency over throughput",
      .sentence = fmt::format("Each dot is a load, from the left: {} of {}. The knee has the "
                              "most throughput per latency.",
                              over, fmt::join(by_throughput(runs), ", ")),
      .x = "requests/s",
      .y = "whole request, ms",
      .series = {}};
  for (const auto& [name, figure, ink] :
       {std::tuple{"median", "e2e_incl_queue_ms.median", Ink::first},
        {"p95", "e2e_incl_queue_ms.p95", Ink::second}}) {
    ChartSeries line{.name = {}, .ink = ink};
    ChartSeries dots{.name = name, .ink = ink, .shape = Shape::dots};
    for (const auto& [load, judged] : runs) {
      const auto x = judged.metrics.find("request_throughput"), y = judged.metrics.find(figure);
      if (!x || !y) continue;
      line.points.emplace_back(*x, *y);
      dots.points.emplace_back(*x, *y);
      dots.notes.push_back(
          fmt::format("{} {:g}: {} {:.4g} ms at {:.4g} requests/s", over, load, name, *y, *x));
    }
    chart.series.push_back(std::move(dots));
    chart.series.push_back(std::move(line));
  }
  page.charts.push_back(std::move(chart));
  return report::chart_page_html(page);
}

}  // namespace assay::cli
