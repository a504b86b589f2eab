#include "assay/report/sweep_report.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include <fmt/format.h>

#include "assay/base/text.h"
#include "assay/record/problem_row.h"
#include "assay/report/model_lines.h"
#include "assay/report/names.h"
#include "assay/report/ranking_lines.h"
#include "assay/report/safe.h"
#include "assay/report/sweep_parts.h"
#include "assay/report/words.h"

namespace assay::report {
namespace {

std::string proof_error(const KernelOutcome& kernel) {
  return kernel.proof ? error_text(kernel.proof->max_error) : std::string("-");
}

Tone tone_of_claim(const PartRow& row) {
  return row.verdict == nullptr ? Tone::plain : tone_of(row.verdict->verdict.word);
}

bool is_shown(const ProblemRecord& problem, const std::vector<std::string>& only) {
  return only.empty() || std::find(only.begin(), only.end(), problem.name) != only.end();
}

}  // namespace

Problems shown_problems(const RunRecord& record, const std::vector<std::string>& only) {
  Problems shown;
  for (const ProblemRecord& problem : record.problems) {
    if (is_shown(problem, only)) shown.push_back(&problem);
  }
  return shown;
}

int decimals_for(const RunRecord& record, int width) {
  const int decimals = ratio_decimals(record.options.margin);
  return width >= kWideTerminal ? std::max(decimals, 3) : decimals;
}

namespace {

void add_part_columns(Table& table) {
  table.columns.push_back({.title = "role"});
  table.columns.push_back({.title = "kernel", .shrinks_to = 12, .elide = Elide::middle});
  table.columns.push_back({.title = "us", .align = Align::right});
  table.columns.push_back({.title = "rate", .align = Align::right});
  table.columns.push_back({.title = "of ceiling"});
}

// The winner may be the other side of the verdict.
std::string part_text(const ProblemRecord& problem, const PartRow& row) {
  const PairVerdict* verdict = problem.headline();
  const bool is_other = verdict != nullptr && !verdict->is_of_itself() &&
                        verdict->other == row.kernel->id && row.part == PartOf::winner &&
                        row.kernel->role == KernelRole::stock;
  // Where nobody else computes it, each is a user's, and the slower one alone is not "yours".
  const bool is_yours =
      verdict == nullptr && row.part == PartOf::winner && row.kernel->role == KernelRole::user;
  return fmt::format("{}{}", part_word(row), is_other ? ", stock" : is_yours ? ", yours" : "");
}

void add_part_cells(Table::Row& line, const ProblemRecord& problem, const PartRow& row,
                    bool in_full) {
  line.cells.push_back({part_text(problem, row)});
  line.cells.push_back({in_full ? full_name(*row.kernel) : short_name(problem, *row.kernel)});
  line.cells.push_back({time_text(row)});
  line.cells.push_back({rate_text(problem, row)});
  line.cells.push_back({ceiling_text(problem, row)});
}

// Where nothing was confirmed.
Table::Row no_kernel(Layout layout, const ProblemRecord& problem) {
  Table::Row line;
  if (layout == Layout::full)
    line.cells.push_back({problem.name});
  else
    line.heading = problem.name;
  line.cells.insert(line.cells.end(), {{"winner"}, {"none"}, {"-"}, {"-"}, {"-"}});
  return line;
}

void add_problem(Table& table, const ProblemRecord& problem, Layout layout, int decimals) {
  const std::vector<PartRow> rows = parts_of(problem);
  if (rows.empty()) table.rows.push_back(no_kernel(layout, problem));
  for (const PartRow& row : rows) {
    Table::Row line;
    const bool first = &row == &rows.front(), full = layout == Layout::full;
    const std::string claim = claim_text(problem, row, decimals);
    if (full) line.cells.push_back({first ? problem.name : ""});
    if (!full && first) {
      line.heading = problem.name;
      line.claim = {claim, tone_of_claim(row)};
    }
    add_part_cells(line, problem, row, full);
    if (full) line.cells.push_back({proof_error(*row.kernel)});
    if (full) line.cells.push_back({claim, tone_of_claim(row)});
    table.rows.push_back(std::move(line));
  }
}

}  // namespace

Table sweep_table(const Problems& problems, Layout layout, int decimals) {
  Table table;
  if (layout == Layout::full) table.columns.push_back({.title = "shape"});
  add_part_columns(table);
  if (layout == Layout::full) {
    table.columns.push_back({.title = "err", .align = Align::right});
    table.columns.push_back({.title = "verdict"});
  }
  for (const ProblemRecord* problem : problems) add_problem(table, *problem, layout, decimals);
  return table;
}

Table parts_table(const ProblemRecord& problem, Defaults defaults, bool names_in_full) {
  Table table;
  add_part_columns(table);
  for (const PartRow& row : parts_of(problem, defaults))
    add_part_cells(table.rows.emplace_back(), problem, row, names_in_full);
  return table;
}

namespace {

std::string no_winner_text(const ProblemRecord& problem) {
  return problem.no_winner.empty() ? "no kernel was confirmed" : safe(problem.no_winner);
}

}  // namespace

std::vector<std::string> footnotes(const Problems& problems) {
  std::vector<std::string> notes;
  bool limits = false, disturbed = false;
  std::vector<std::string> unsure, ties, unclear, none;
  for (const ProblemRecord* problem : problems) {
    const ProblemRow row = row_of(*problem);
    if (row.verdict != nullptr) {
      const stats::Verdict& verdict = row.verdict->verdict;
      limits = limits || word_and_limit(verdict).find('(') != std::string::npos;
      if (!verdict.reason.empty())
        unsure.push_back(fmt::format("{} {}: {}", stats::to_string(verdict.word), problem->name,
                                     safe(verdict.reason)));
    }
    disturbed = disturbed || std::ranges::any_of(parts_of(*problem), &PartRow::is_disturbed);
    if (problem->winner() == nullptr) {
      none.push_back(fmt::format("{}: {}", problem->name, no_winner_text(*problem)));
      continue;
    }
    const Conclusion& conclusion = *problem->conclusion();
    const auto list = [&](const std::vector<std::string>& ids) {
      std::vector<std::string> labels;
      for (const std::string& id : ids) {
        labels.push_back(fmt::format("{} {} us", safe(problem->label(id)),
                                     microseconds(conclusion.median_us(id))));
      }
      return join(labels, ", ");
    };
    if (conclusion.tied.size() > 1) {
      ties.push_back(fmt::format("tie {}: {}", problem->name, list(conclusion.tied)));
    }
    if (!conclusion.unclear.empty()) {
      unclear.push_back(fmt::format("unclear {}: {}", problem->name, list(conclusion.unclear)));
    }
  }
  if (limits) notes.push_back("(%): the smallest difference that this run could have shown");
  if (disturbed)
    notes.push_back(
        "<=: no burst of it was undisturbed; its time is what its processor ran at most");
  for (const auto* group : {&unsure, &ties, &unclear, &none}) {
    notes.insert(notes.end(), group->begin(), group->end());
  }
  return notes;
}

std::string counts_line(const RunRecord& record, std::size_t shown) {
  const Totals& totals = record.totals;
  std::string text =
      fmt::format("{} shape{}", record.problems.size(), record.problems.size() == 1 ? "" : "s");
  if (shown != record.problems.size()) text += fmt::format(" ({} shown)", shown);
  text += fmt::format(", {} kernel{} proven, {} wrong", thousands(totals.proven),
                      totals.proven == 1 ? "" : "s", thousands(totals.wrong));
  if (totals.crashed > 0) text += fmt::format(", {} crashed", thousands(totals.crashed));
  if (totals.left_out > 0)
    text += fmt::format(", {} not compiled or not reached", thousands(totals.left_out));
  if (totals.refused > 0) text += fmt::format(", {} refused", thousands(totals.refused));
  text += fmt::format(", {} {}", seconds_text(totals.timed_seconds),
                      record.environment.device.kind == "gpu" ? "on GPU" : "timed");
  return text;
}

std::vector<std::pair<std::string, RefusalCountRecord>> refusals_of(const ProblemRecord& problem) {
  std::vector<std::pair<std::string, RefusalCountRecord>> refusals(problem.refusals.begin(),
                                                                   problem.refusals.end());
  std::stable_sort(refusals.begin(), refusals.end(), [](const auto& one, const auto& other) {
    return one.second.count > other.second.count;
  });
  return refusals;
}

namespace {

std::vector<std::string> why_lines(const ProblemRecord& problem) {
  std::vector<std::string> lines;
  for (const auto& [reason, refusal] : refusals_of(problem)) {
    lines.push_back(fmt::format("{}: refused {}: {} ({})", problem.name, thousands(refusal.count),
                                safe(reason), safe(refusal.example)));
  }
  for (const KernelOutcome& kernel : problem.kernels) {
    if (!is_timed(kernel.ending)) {
      lines.push_back(fmt::format("{}: {}: {}", problem.name, safe(kernel.label()),
                                  ending_sentence(kernel.ending)));
    }
    for (const Finding& finding : kernel.findings) {
      lines.push_back(fmt::format("{}: {}: {}: {}", problem.name, safe(kernel.label()),
                                  safe(finding.code), safe(finding.sentence)));
    }
  }
  return lines;
}

std::string record_line(const SweepReportOptions& options) {
  if (options.record_path.empty()) return {};
  std::string text = "record " + sanitize(options.record_path, 1000);
  if (options.next.empty()) return text + '\n';
  const std::string next = "next: " + sanitize(options.next, 1000);
  const std::string together = text + "     " + next;
  return (display_width(together) <= options.style.width ? together : text + '\n' + next) + '\n';
}

}  // namespace

std::vector<std::string> condition_lines(const RunRecord& record, const Problems& problems) {
  std::vector<std::string> lines;
  for (const ProblemRecord* problem : problems) {
    const Condition& condition = problem->condition;
    const RaceClass& allowed = problem->race_class;
    std::string line =
        fmt::format("condition {}, {}, {}; preparation {}, dependent launch {}; margin {}",
                    safe(condition.cache), safe(condition.spacing), safe(condition.launch),
                    safe(allowed.preparation), safe(allowed.dependent_launch),
                    margin_text(record.options.margin));
    if (std::find(lines.begin(), lines.end(), line) == lines.end()) lines.push_back(line);
  }
  std::string trust = fmt::format("trust {}", to_string(record.trust));
  if (!record.trust_reason.empty()) trust += ": " + sanitize(record.trust_reason, 1000);
  lines.push_back(std::move(trust));
  return lines;
}

namespace {

std::vector<std::string> run_findings(const RunRecord& record) {
  std::vector<std::string> lines;
  for (const Finding& finding : record.findings) {
    lines.push_back(fmt::format("finding {}: {}", safe(finding.code), safe(finding.sentence)));
  }
  for (const std::string& warning : record.environment.warnings) {
    lines.push_back("warning: " + safe(warning));
  }
  return lines;
}

}  // namespace

std::string sweep_text(const RunRecord& record, const SweepReportOptions& options) {
  const Problems problems = shown_problems(record, options.only);
  const int decimals = decimals_for(record, options.style.width);
  Table table = sweep_table(problems, Layout::full, decimals);
  if (natural_width(table) > options.style.width)
    table = sweep_table(problems, Layout::narrow, decimals);
  std::string out = model_text(record, options.style) + text_table(table, options.style) + '\n';
  const auto lines = [&](const std::vector<std::string>& texts) {
    for (const std::string& text : texts) out += wrap(text, options.style.width, 2);
  };
  if (table.columns.front().title == "shape")
    lines({"err: largest error as a share of the budget"});
  lines(footnotes(problems));
  lines(ranking_lines(problems));
  lines(condition_lines(record, problems));
  if (options.why) {
    for (const ProblemRecord* problem : problems) lines(why_lines(*problem));
  }
  lines(run_findings(record));
  std::string counts = counts_line(record, problems.size());
  if (!options.why) counts += "   (--why)";
  lines({counts});
  return out + record_line(options);
}

}  // namespace assay::report
