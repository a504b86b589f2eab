#include "cli/history_text.h"

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
  return fmt::format("{:.3f} [{:.3f} {:.3f}]", result.ratio, result.low, result.high);
}

report::Cell verdict_of(const store::ResultEntry& result) {
  if (result.ending != "timed") {
    std::string ending = safe(result.ending);
    std::replace(ending.begin(), ending.end(), '_', ' ');
    return {ending, report::Tone::bad};
  }
  const auto word = stats::parse_word(result.word);
  if (!word) return {result.winner ? "winner" : "-"};
  return {safe(result.word) + (result.winner ? ", winner" : ""), report::tone_of(*word)};
}

}  // namespace

std::string runs_text(const std::vector<store::RunEntry>& runs, const report::TextStyle& style) {
  if (runs.empty()) return "no run fits\n";
  report::Table table;
  table.columns = {{.title = "began (UTC)"},
                   {.title = "kind"},
                   {.title = "run", .shrinks_to = 16},
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
  report::Table table;
  table.columns = {{.title = "began (UTC)"},
                   {.title = "shape", .shrinks_to = 12},
                   {.title = "kernel", .shrinks_to = 12},
                   {.title = "us", .align = report::Align::right},
                   {.title = "vs best stock"},
                   {.title = "verdict"},
                   {.title = "run", .shrinks_to = 8}};
  for (const store::ResultEntry& result : results)
    table.rows.push_back({{{minute_of(result.created)},
                           {safe(result.problem)},
                           {safe(result.provider + "/" + result.kernel)},
                           {report::microseconds(result.us)},
                           {ratio_of(result)},
                           verdict_of(result),
                           {safe(result.run)}},
                          {}});
  return report::text_table(table, style) +
         "times of different runs are no comparison: machines and conditions change\n";
}

}  // namespace assay::cli
