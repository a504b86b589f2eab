#include "assay/report/model_lines.h"

#include <fmt/format.h>

#include "assay/base/text.h"
#include "assay/report/words.h"

namespace assay::report {
namespace {

double winner_us(const ProblemRecord& problem) {
  const Confirmation* confirmation = problem.decisive();
  const KernelOutcome* winner = problem.winner();
  if (confirmation == nullptr || winner == nullptr) return 0;
  return confirmation->conclusion.median_us(winner->id);
}

bool is_of(const ProblemRecord& problem, const ModelTime& time, bool one_pass) {
  return one_pass || problem.dimension("m", 0) == time.m;
}

Table table_of(const RunRecord& record, const ModelTime& time, bool one_pass) {
  Table table;
  table.columns = {{"role"},
                   {"us a call", Align::right},
                   {"calls", Align::right},
                   {"us", Align::right},
                   {"share", Align::right}};
  double total = 0;
  for (const ProblemRecord& problem : record.problems)
    if (is_of(problem, time, one_pass)) total += problem.weight * winner_us(problem);
  for (const ProblemRecord& problem : record.problems) {
    if (!is_of(problem, time, one_pass)) continue;
    const double us = winner_us(problem);
    table.rows.push_back({{{sanitize(problem.role.empty() ? problem.name : problem.role, 60)},
                           {us > 0 ? significant(us) : "-"},
                           {fmt::format("{:g}", problem.weight)},
                           {us > 0 ? significant(problem.weight * us) : "-"},
                           {us > 0 && total > 0 ? percent(problem.weight * us / total) : "-"}},
                          {}});
  }
  return table;
}

}  // namespace

std::vector<std::string> model_lines(const RunRecord& record) {
  std::vector<std::string> lines;
  for (const ModelTime& time : model_times(record)) {
    std::string line =
        fmt::format("model: {}, m {}: ", sanitize(record.options.suite, 240), time.m);
    if (time.missing.empty())
      line += fmt::format(
          "default {} us, best stock {} us, best {} us; {} tokens/s of these problems alone",
          significant(time.default_us), significant(time.best_stock_us), significant(time.best_us),
          significant(static_cast<double>(time.m) / (time.best_us * 1e-6)));
    else
      line += "no time: " + sanitize(time.missing, 240);
    lines.push_back(std::move(line));
  }
  return lines;
}

std::string model_text(const RunRecord& record, const TextStyle& style) {
  std::string text;
  const std::vector<ModelTime> times = model_times(record);
  const std::vector<std::string> lines = model_lines(record);
  for (std::size_t i = 0; i < times.size(); ++i) {
    if (!record.options.model.empty())
      text += text_table(table_of(record, times[i], times.size() == 1), style);
    text += wrap(lines[i], style.width, 2) + '\n';
  }
  return text;
}

}  // namespace assay::report
