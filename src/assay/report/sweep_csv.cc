// The sweep's table for other programs.

#include <cmath>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "assay/base/text.h"
#include "assay/record/csv.h"
#include "assay/record/problem_row.h"
#include "assay/report/sweep_report.h"

namespace assay::report {

std::string sweep_csv(const RunRecord& record) {
  Table table;
  for (const char* title : {"name",
                            "key",
                            "role",
                            "weight",
                            "condition",
                            "class",
                            "winner_provider",
                            "winner_kernel",
                            "winner_id",
                            "winner_us",
                            "winner_tflops",
                            "winner_gbps",
                            "ceiling",
                            "ceiling_share",
                            "max_error",
                            "tied",
                            "verdict_of",
                            "candidate",
                            "candidate_us",
                            "other",
                            "verdict",
                            "ratio",
                            "low",
                            "high",
                            "smallest_detectable",
                            "baseline",
                            "baseline_us",
                            "no_winner",
                            "candidate_error"}) {
    table.columns.push_back({.title = title});
  }
  const auto number = [](double value) {
    return std::isfinite(value) ? fmt::format("{}", value) : std::string();
  };
  for (const ProblemRecord& problem : record.problems) {
    const ProblemRow row = row_of(problem);
    const KernelOutcome* winner = row.winner;
    const double us = row.us;
    std::vector<std::string> cells = {problem.name,
                                      problem.key,
                                      problem.role,
                                      number(problem.weight),
                                      problem.condition.to_string(),
                                      problem.race_class.to_string()};
    if (winner == nullptr) {
      cells.insert(cells.end(), 6, "");
    } else {
      cells.insert(cells.end(), {winner->provider, winner->name, winner->id, number(us),
                                 us > 0 ? number(problem.flops / us * 1e-6) : std::string(),
                                 us > 0 ? number(problem.bytes / us * 1e-3) : std::string()});
    }
    cells.push_back(problem.ceiling);
    cells.push_back(problem.ceiling_share > 0 ? number(problem.ceiling_share) : "");
    cells.push_back(winner != nullptr && winner->proof ? number(winner->proof->max_error) : "");
    std::vector<std::string> tied;
    if (const Conclusion* conclusion = problem.conclusion()) {
      for (const std::string& id : conclusion->tied) tied.push_back(problem.label(id));
    }
    cells.push_back(join(tied, " "));
    if (row.verdict == nullptr) {
      cells.insert(cells.end(), 9, "");
    } else {
      const stats::Verdict& verdict = row.verdict->verdict;
      cells.insert(cells.end(),
                   {std::string(to_string(row.of)), problem.label(row.verdict->candidate),
                    row.verdict_us > 0 ? number(row.verdict_us) : std::string(),
                    problem.label(row.verdict->other), std::string(stats::to_string(verdict.word)),
                    number(verdict.ratio), number(verdict.low), number(verdict.high),
                    number(verdict.smallest_detectable)});
    }
    const Confirmation* confirmation = problem.decisive();
    const std::string baseline = confirmation == nullptr ? "" : confirmation->baseline;
    const double baseline_us =
        confirmation == nullptr ? 0 : confirmation->conclusion.median_us(baseline);
    cells.push_back(baseline.empty() ? "" : problem.label(baseline));
    cells.push_back(baseline_us > 0 ? number(baseline_us) : "");
    cells.push_back(problem.no_winner);
    // By what its candidate is right, unless it is element by element.
    cells.emplace_back(row.is_normwise ? to_string(ErrorBound::normwise) : "");
    Table::Row line;
    for (const std::string& cell : cells) line.cells.push_back({csv_text(cell)});
    table.rows.push_back(std::move(line));
  }
  return csv_table(table);
}

}  // namespace assay::report
