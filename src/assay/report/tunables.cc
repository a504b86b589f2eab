#include "assay/report/tunables.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "assay/base/text.h"
#include "assay/report/document.h"
#include "assay/report/words.h"

namespace assay::report {
namespace {

// More points than this are counted.
constexpr std::size_t kMostPoints = 40;
constexpr int kTunableLabelWidth = 10;  // As the lines of a race.

std::string value_text(const Json& design, const std::string& key) {
  const auto found = design.find(key);
  if (found == design.end()) return "-";
  return sanitize(found->is_string() ? found->get<std::string>() : found->dump(), 40);
}

double tuned_time_of(const ProblemRecord& problem, const KernelOutcome& kernel) {
  if (!is_timed(kernel.ending)) return 0;
  const Conclusion* conclusion = problem.conclusion();
  const double us = conclusion == nullptr ? 0 : conclusion->median_us(kernel.id);
  return us > 0 || !kernel.race ? us : kernel.race->median_us;
}

std::map<std::string, std::vector<const KernelOutcome*>> users_families(
    const ProblemRecord& problem) {
  std::map<std::string, std::vector<const KernelOutcome*>> families;
  for (const KernelOutcome& kernel : problem.kernels) {
    const Json family = kernel.metadata.member("family");
    if (kernel.role == KernelRole::user && family.is_string())
      families[family.get<std::string>()].push_back(&kernel);
  }
  return families;
}

// Keys of the design whose values differ, in the family's own order if it says one.
std::vector<std::string> tunables_of(const std::vector<const KernelOutcome*>& kernels) {
  std::map<std::string, std::set<std::string>> values;
  for (const KernelOutcome* kernel : kernels) {
    const Json design = kernel->metadata.member("design");
    if (!design.is_object()) continue;
    for (const auto& [key, value] : design.items()) values[key].insert(value.dump());
  }
  std::vector<std::string> names;
  const auto add = [&](const std::string& key) {
    const auto found = values.find(key);
    if (found != values.end() && found->second.size() > 1) names.push_back(key);
    values.erase(key);
  };
  const Json order = kernels.front()->metadata.member("design_order");
  if (order.is_array())
    for (const Json& key : order)
      if (key.is_string()) add(key.get<std::string>());
  while (!values.empty()) add(values.begin()->first);
  return names;
}

// Numbers by their size, all else by its letters.
bool is_before(const std::string& one, const std::string& other) {
  char *one_end = nullptr, *other_end = nullptr;
  const double left = std::strtod(one.c_str(), &one_end);
  const double right = std::strtod(other.c_str(), &other_end);
  if (*one_end == '\0' && *other_end == '\0' && left != right) return left < right;
  return one < other;
}

std::size_t place_of(const std::vector<std::string>& values, const std::string& value) {
  return static_cast<std::size_t>(std::ranges::find(values, value) - values.begin());
}

std::string map_text(const TunedFamily& family) {
  const HeatMap map = heat_map(family);
  Table table;
  table.columns.push_back(
      {.title = sanitize(fmt::format("{} \\ {}", family.tunables[0], family.tunables[1]), 60)});
  for (const std::string& value : map.columns)
    table.columns.push_back({.title = value, .align = Align::right});
  for (std::size_t row = 0; row < map.rows.size(); ++row) {
    Table::Row& line = table.rows.emplace_back();
    line.cells.push_back({map.rows[row]});
    for (const double share : map.shares[row])
      line.cells.push_back(
          {share > 0 ? fmt::format("{:.0f}", share * 100) : "-", share >= 0.95   ? Tone::good
                                                                 : share >= 0.6  ? Tone::plain
                                                                 : share >= 0.35 ? Tone::caution
                                                                                 : Tone::bad});
  }
  return text_table(table, {.width = 1000, .colour = false, .cuts = true});
}

std::string labelled(std::string_view label, std::string_view text) {
  std::string out;
  for (const std::string_view line : split(text, '\n')) {
    if (line.empty()) continue;
    out += pad(out.empty() ? label : "", kTunableLabelWidth) + std::string(line) + '\n';
  }
  return out;
}

std::string map_html(const ProblemRecord& problem, const TunedFamily& family) {
  const HeatMap map = heat_map(family);
  std::string out = fmt::format(
      "<table class=\"heat\">\n<caption>{}, {}: per cent of the best point's speed, {} down, {} "
      "across</caption>\n<thead><tr><th></th>",
      html_text(problem.name), html_text(family.name), html_text(family.tunables[0]),
      html_text(family.tunables[1]));
  for (const std::string& value : map.columns)
    out += fmt::format("<th scope=\"col\">{}</th>", html_text(value));
  out += "</tr></thead>\n<tbody>\n";
  for (std::size_t row = 0; row < map.rows.size(); ++row) {
    out += fmt::format("<tr><th scope=\"row\">{}</th>", html_text(map.rows[row]));
    for (const double share : map.shares[row]) {
      const int heat = std::clamp(static_cast<int>(share * 10), 0, 9);
      out += share > 0 ? fmt::format("<td class=\"heat{}\">{:.0f}</td>", heat, share * 100)
                       : std::string("<td>-</td>");
    }
    out += "</tr>\n";
  }
  return out + "</tbody>\n</table>\n";
}

}  // namespace

std::vector<TunedFamily> tuned_families(const ProblemRecord& problem) {
  std::vector<TunedFamily> found;
  for (const auto& [name, kernels] : users_families(problem)) {
    TunedFamily family{sanitize(name, 120), tunables_of(kernels), {}};
    if (family.tunables.empty()) continue;
    double best = 0;
    for (const KernelOutcome* kernel : kernels) {
      TunedPoint point{kernel, {}, tuned_time_of(problem, *kernel), 0};
      const Json design = kernel->metadata.member("design");
      for (const std::string& key : family.tunables)
        point.values.push_back(value_text(design, key));
      if (point.us > 0) best = best > 0 ? std::min(best, point.us) : point.us;
      family.points.push_back(std::move(point));
    }
    for (TunedPoint& point : family.points)
      if (point.us > 0) point.share = best / point.us;
    std::ranges::stable_sort(family.points, std::ranges::greater(), &TunedPoint::share);
    found.push_back(std::move(family));
  }
  return found;
}

Table points_table(const TunedFamily& family) {
  Table table;
  for (const std::string& key : family.tunables)
    table.columns.push_back({.title = sanitize(key, 40), .align = Align::right});
  table.columns.push_back({.title = "us", .align = Align::right});
  table.columns.push_back({.title = "of best", .align = Align::right});
  table.columns.push_back({.title = "ended"});
  for (const TunedPoint& point : family.points) {
    Table::Row& line = table.rows.emplace_back();
    for (const std::string& value : point.values) line.cells.push_back({value});
    line.cells.push_back({microseconds(point.us)});
    line.cells.push_back({point.share > 0 ? share_text(point.share) : "-"});
    const bool dropped = point.kernel->race && point.kernel->race->dropped_after > 0;
    line.cells.push_back({!is_timed(point.kernel->ending)
                              ? std::string(ending_name(point.kernel->ending))
                          : dropped ? fmt::format("round {}", point.kernel->race->dropped_after)
                                    : std::string("ran to the end")});
  }
  return table;
}

bool has_heat_map(const TunedFamily& family) { return family.tunables.size() == 2; }

HeatMap heat_map(const TunedFamily& family) {
  HeatMap map;
  const auto values = [&](std::size_t tunable) {
    std::vector<std::string> all;
    for (const TunedPoint& point : family.points) all.push_back(point.values[tunable]);
    std::ranges::sort(all, is_before);
    all.erase(std::unique(all.begin(), all.end()), all.end());
    return all;
  };
  map.rows = values(0);
  map.columns = values(1);
  map.shares.assign(map.rows.size(), std::vector<double>(map.columns.size(), 0));
  for (const TunedPoint& point : family.points) {
    double& share =
        map.shares[place_of(map.rows, point.values[0])][place_of(map.columns, point.values[1])];
    share = std::max(share, point.share);
  }
  return map;
}

std::string tunables_text(const ProblemRecord& problem, const TextStyle& style) {
  std::string out;
  for (const TunedFamily& family : tuned_families(problem)) {
    Table table = points_table(family);
    const std::size_t points = table.rows.size();
    table.rows.resize(std::min(points, kMostPoints));
    out += labelled("points", text_table(table, style));
    if (points > kMostPoints) out += labelled("", fmt::format("and {} more", points - kMostPoints));
    if (has_heat_map(family)) out += labelled("% of best", map_text(family));
  }
  return out;
}

std::string tunables_html(const RunRecord& record) {
  std::string maps;
  for (const ProblemRecord& problem : record.problems)
    for (const TunedFamily& family : tuned_families(problem))
      if (has_heat_map(family)) maps += map_html(problem, family);
  if (maps.empty()) return {};
  return "<section id=\"tunables\">\n<h2>Tunables</h2>\n" + maps + "</section>\n";
}

}  // namespace assay::report
