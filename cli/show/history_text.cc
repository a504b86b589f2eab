#include "cli/show/history_text.h"

#include <algorithm>

#include <fmt/format.h>

#include "assay/base/text.h"
#include "assay/report/words.h"

namespace assay::cli {
namespace {

std::string safe(const std::string& text) { return sanitize(text, 240); }

// "2025-01-31 23:59" of "2025-01-31T23:59:59Z".
std::string minute_of(const std::string& created) {
  std::string text = safe(created.substr(0, 16));
  if (text.size() == 16 && text[10] == 'T') text[10] = ' ';
  return text;
}

std::string ratio_of(const store::ResultEntry& result) {
  if (result.low <= 0) return "-";
  return fmt::format("{:.2f} [{:.2f} {:.2f}]", result.ratio, result.low, result.high);
}

report::Cell verdict_of(const store::ResultEntry& result) {
  if (result.ending != "timed") {
    std::string ending = safe(result.ending);
    std::replace(ending.begin(), ending.end(), '_', ' ');
    return {ending, report::Tone::bad};
  }
  const auto word = stats::parse_word(result.word);
  const std::string mark = result.winner ? "*" : "";
  return word ? report::Cell{safe(result.word) + mark, report::tone_of(*word)}
              : report::Cell{"-" + mark};
}

bool is_of_one_shape(const std::vector<store::ResultEntry>& results) {
  return std::ranges::all_of(results, [&](const store::ResultEntry& result) {
    return result.problem == results.front().problem;
  });
}

// grouped: run and shape, which must not be cut, stand on a line of their own.
report::Table results_table(const std::vector<store::ResultEntry>& results, bool one_shape,
                            bool grouped) {
  report::Table table;
  table.columns = {{.title = "began (UTC)"}};
  if (!one_shape && !grouped) table.columns.push_back({.title = "shape"});
  table.columns.insert(table.columns.end(),
                       {{.title = "kernel", .shrinks_to = 12, .elide = report::Elide::middle},
                        {.title = "us", .align = report::Align::right},
                        {.title = "vs best stock"},
                        {.title = "verdict"}});
  if (!grouped) table.columns.push_back({.title = "run"});
  for (const store::ResultEntry& result : results) {
    report::Table::Row row;
    if (grouped) row.heading = safe(result.run) + (one_shape ? "" : "  " + safe(result.problem));
    row.cells.push_back({minute_of(result.created)});
    if (!one_shape && !grouped) row.cells.push_back({safe(result.problem)});
    row.cells.push_back({safe(result.provider + "/" + result.kernel)});
    row.cells.push_back({report::microseconds(result.us)});
    row.cells.push_back({ratio_of(result)});
    row.cells.push_back(verdict_of(result));
    if (!grouped) row.cells.push_back({safe(result.run)});
    table.rows.push_back(std::move(row));
  }
  return table;
}

}  // namespace

std::string runs_text(const std::vector<store::RunEntry>& runs, const report::TextStyle& style) {
  if (runs.empty()) return "no run fits\n";
  report::Table table;
  table.columns = {{.title = "began (UTC)"},
                   {.title = "kind"},
                   {.title = "run"},  // Never cut: --get takes it whole.
                   {.title = "suite", .shrinks_to = 8},
                   {.title = "shapes", .align = report::Align::right},
                   {.title = "kernels", .align = report::Align::right},
                   {.title = "device", .shrinks_to = 8}};
  for (const store::RunEntry& run : runs)
    table.rows.push_back({{{minute_of(run.created)},
                           {safe(run.kind)},
                           {safe(run.id)},
                           {run.suite.empty() ? "-" : safe(run.suite)},
                           {report::thousands(run.problems)},
                           {report::thousands(run.kernels)},
                           {safe(run.device)}},
                          {}});
  return report::text_table(table, style);
}

std::string history_text(const std::vector<store::ResultEntry>& results,
                         const report::TextStyle& style) {
  if (results.empty()) return "no result fits\n";
  // One shape is said once, so that the kernels have room.
  const bool one = is_of_one_shape(results);
  report::Table table = results_table(results, one, false);
  if (natural_width(table) > style.width) table = results_table(results, one, true);
  const bool won = std::ranges::any_of(results, &store::ResultEntry::winner);
  return (one ? safe(results.front().problem) + "\n" : std::string()) +
         report::text_table(table, style) + (won ? "* won its shape\n" : "") +
         "times of different runs are no comparison: machines and conditions change\n";
}

}  // namespace assay::cli
