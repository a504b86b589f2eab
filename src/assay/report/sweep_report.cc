#include "assay/report/sweep_report.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include <fmt/format.h>

#include "assay/base/text.h"
#include "assay/record/problem_row.h"
#include "assay/report/model_lines.h"
#include "assay/report/ranking_lines.h"
#include "assay/report/sweep_parts.h"
#include "assay/report/words.h"

namespace assay::report {
namespace {

std::string safe(std::string_view text) { return sanitize(text, 240); }

}  // namespace

std::string winner_text(const ProblemRecord& problem) {
  const KernelOutcome* winner = problem.winner();
  if (winner == nullptr) return "none";
  const std::size_t tied = problem.conclusion()->tied.size();
  return tied > 1 ? fmt::format("tie of {}: {}", tied, safe(winner->label()))
                  : safe(winner->label());
}

namespace {

std::string error_text(const ProblemRecord& problem) {
  const KernelOutcome* winner = problem.winner();
  return winner == nullptr || !winner->proof ? std::string("-")
                                             : fmt::format("{:.2f}", winner->proof->max_error);
}

Cell verdict_cell(const ProblemRow& row) {
  if (row.verdict == nullptr) return {"-", Tone::plain};
  if (row.verdict->is_of_itself()) return {"the default", Tone::plain};
  const stats::Verdict& verdict = row.verdict->verdict;
  return {word_and_limit(verdict, row.marks()), tone_of(verdict.word)};
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

Table sweep_table(const Problems& problems, Above above, int decimals) {
  Table table;
  if (above == Above::nothing) table.columns.push_back({.title = "shape"});
  if (above != Above::shape_and_winner)
    table.columns.push_back({.title = "winner", .shrinks_to = 12});
  table.columns.push_back({.title = "us", .align = Align::right});
  table.columns.push_back({.title = "ceiling", .align = Align::right});
  table.columns.push_back({.title = "vs best stock"});
  table.columns.push_back({.title = "err", .align = Align::right});
  table.columns.push_back({.title = "verdict"});
  for (const ProblemRecord* problem : problems) {
    Table::Row row;
    if (above == Above::nothing) row.cells.push_back({problem->name});
    if (above != Above::nothing) row.heading = problem->name;
    if (above == Above::shape_and_winner)
      row.heading += "  " + winner_text(*problem);
    else
      row.cells.push_back({winner_text(*problem)});
    const ProblemRow says = row_of(*problem);
    row.cells.push_back({microseconds(says.us)});
    row.cells.push_back({problem->winner() == nullptr ? "-" : ceiling_share(*problem)});
    const bool compared = says.verdict != nullptr && !says.verdict->is_of_itself();
    row.cells.push_back({compared ? ratio_interval(says.verdict->verdict, decimals) : "-"});
    row.cells.push_back({error_text(*problem)});
    row.cells.push_back(verdict_cell(says));
    table.rows.push_back(std::move(row));
  }
  return table;
}

namespace {

std::string no_winner_text(const ProblemRecord& problem) {
  return problem.no_winner.empty() ? "no kernel was confirmed" : safe(problem.no_winner);
}

// The best of the user's own kernels, where it neither won nor has the verdict for itself.
std::optional<std::string> yours_text(const ProblemRecord& problem) {
  const Conclusion& conclusion = *problem.conclusion();
  const PairVerdict* best = nullptr;
  for (const PairVerdict& pair : conclusion.against_leader) {
    const KernelOutcome* kernel = problem.find(pair.candidate);
    if (kernel == nullptr || kernel->role != KernelRole::user ||
        pair.candidate == conclusion.winner)
      continue;
    if (best == nullptr || pair.verdict.ratio > best->verdict.ratio) best = &pair;
  }
  if (best == nullptr) return std::nullopt;
  return fmt::format("yours {}: {} {} us, {} x against {}", problem.name,
                     safe(problem.label(best->candidate)),
                     microseconds(conclusion.median_us(best->candidate)),
                     ratio_interval(best->verdict, 2), safe(problem.label(best->other)));
}

// Whose the ratio and the verdict of a row are, where they are not the winner's.
std::string other_text(const ProblemRecord& problem, const ProblemRow& row) {
  const PairVerdict& pair = *row.verdict;
  return fmt::format("{} {}: ratio and verdict are of {} {} us, {}, against {}", row.marks(),
                     problem.name, safe(problem.label(pair.candidate)),
                     microseconds(row.verdict_us),
                     row.of == VerdictOf::tied ? "which tied with the winner" : "which did not win",
                     safe(problem.label(pair.other)));
}

// Of whom the row speaks, those that are right by another bound than most.
std::vector<std::string> normwise_texts(const ProblemRecord& problem, const ProblemRow& row) {
  std::vector<const KernelOutcome*> kernels = {problem.winner()};
  if (row.verdict != nullptr && row.of != VerdictOf::winner)
    kernels.push_back(problem.find(row.verdict->candidate));
  std::vector<std::string> texts;
  for (const KernelOutcome* kernel : kernels)
    if (kernel != nullptr && kernel->is_normwise())
      texts.push_back(fmt::format("# {}: {} is {}: its errors are bounded by norms, as it declares",
                                  problem.name, safe(kernel->label()), kernel->proof->word()));
  return texts;
}

}  // namespace

std::vector<std::string> footnotes(const Problems& problems) {
  std::vector<std::string> notes = {"err: largest error as a share of the budget"};
  bool limits = false, stock = false, over = false;
  std::vector<std::string> others, unsure, ties, unclear, none, yours, normwise;
  for (const ProblemRecord* problem : problems) {
    const ProblemRow row = row_of(*problem);
    if (row.verdict != nullptr) {
      const stats::Verdict& verdict = row.verdict->verdict;
      limits = limits || word_and_limit(verdict).find('(') != std::string::npos;
      stock = stock || row.is_stock;
      if (row.of != VerdictOf::winner) others.push_back(other_text(*problem, row));
      if (!verdict.reason.empty())
        unsure.push_back(fmt::format("{} {}: {}", stats::to_string(verdict.word), problem->name,
                                     safe(verdict.reason)));
    }
    std::ranges::move(normwise_texts(*problem, row), std::back_inserter(normwise));
    over = over || (problem->winner() != nullptr && shows_more_than_ceiling(*problem));
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
    if (auto text = yours_text(*problem)) yours.push_back(std::move(*text));
    if (conclusion.tied.size() > 1) {
      ties.push_back(fmt::format("tie {}: {}", problem->name, list(conclusion.tied)));
    }
    if (!conclusion.unclear.empty()) {
      unclear.push_back(fmt::format("unclear {}: {}", problem->name, list(conclusion.unclear)));
    }
  }
  if (limits) notes.push_back("(%): the smallest difference that this run could have shown");
  if (stock) notes.push_back("+ the best stock kernel against its provider's default");
  if (over)
    notes.push_back(
        "ceiling above 100 %: the machine gave less when the ceiling was measured, or operands "
        "were "
        "partly in a cache");
  for (const auto* group : {&normwise, &others, &unsure, &ties, &unclear, &yours, &none}) {
    notes.insert(notes.end(), group->begin(), group->end());
  }
  return notes;
}

std::string counts_line(const RunRecord& record, std::size_t shown) {
  const Totals& totals = record.totals;
  std::string text =
      fmt::format("{} shape{}", record.problems.size(), record.problems.size() == 1 ? "" : "s");
  if (shown != record.problems.size()) text += fmt::format(" ({} shown)", shown);
  text += fmt::format(", {} kernels proven, {} wrong", thousands(totals.proven),
                      thousands(totals.wrong));
  if (totals.crashed > 0) text += fmt::format(", {} crashed", thousands(totals.crashed));
  if (totals.left_out > 0)
    text += fmt::format(", {} not compiled or not reached", thousands(totals.left_out));
  if (totals.refused > 0) text += fmt::format(", {} refused", thousands(totals.refused));
  text += fmt::format(", {} {}", seconds_text(totals.timed_seconds),
                      record.environment.device.kind == "gpu" ? "on card" : "timed");
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
  if (!record.trust_reason.empty()) trust += ": " + safe(record.trust_reason);
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
  Table table = sweep_table(problems, Above::nothing, decimals);
  // The winners give way down to this before the names move to lines of their own.
  constexpr int kLeastWinner = 16;
  int longest = 0;
  for (const ProblemRecord* problem : problems) {
    longest = std::max(longest, display_width(winner_text(*problem)));
  }
  const int least = std::min(longest, kLeastWinner);
  if (natural_width(table) - longest + least > options.style.width) {
    table = sweep_table(problems, Above::shape, decimals);
    if (natural_width(table) > options.style.width)
      table = sweep_table(problems, Above::shape_and_winner, decimals);
  }
  std::string out = model_text(record, options.style) + text_table(table, options.style) + '\n';
  const auto lines = [&](const std::vector<std::string>& texts) {
    for (const std::string& text : texts) out += wrap(text, options.style.width, 2);
  };
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
