#include "assay/report/run_sections.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "assay/base/text.h"
#include "assay/record/conclude.h"
#include "assay/report/evidence_sections.h"
#include "assay/report/model_lines.h"
#include "assay/report/other_conditions.h"
#include "assay/report/ranking_lines.h"
#include "assay/report/sweep_parts.h"
#include "assay/report/words.h"

namespace assay::report {
namespace {

// Kernels of one shape that a report names: what fell comes first, then the fastest. The rest are
// counted; the record holds all.
constexpr std::size_t kMostKernels = 400;

Table table_of(std::vector<Column> columns) {
  Table table;
  table.columns = std::move(columns);
  return table;
}

bool has_opponent(const RunRecord& record) {
  return record.kind == "race" &&
         std::ranges::any_of(record.command_line, [](const std::string& word) {
           return word == "--against" || word.starts_with("--against=");
         });
}

// Of `race --against FILE`: each kernel of the user's against each of a file that was named behind
// it. A record lists kernels in the order of their files, and the opponent's comes last.
std::vector<PairVerdict> users_pairs(const RunRecord& record, const ProblemRecord& problem) {
  std::vector<PairVerdict> pairs;
  if (!has_opponent(record)) return pairs;
  std::vector<const KernelOutcome*> users;
  for (const KernelOutcome& kernel : problem.kernels)
    if (kernel.role == KernelRole::user) users.push_back(&kernel);
  for (std::size_t i = 0; i < users.size(); ++i)
    for (std::size_t j = i + 1; j < users.size(); ++j) {
      if (users[i]->metadata.member("family") == users[j]->metadata.member("family")) continue;
      if (const auto verdict = verdict_between(problem, record.options, users[i]->id, users[j]->id))
        pairs.push_back({users[i]->id, users[j]->id, *verdict});
    }
  return pairs;
}

std::vector<std::string> users_pair_lines(const RunRecord& record) {
  std::vector<std::string> lines;
  for (const ProblemRecord& problem : record.problems)
    for (const PairVerdict& pair : users_pairs(record, problem))
      lines.push_back(fmt::format("{}: {} is {}", problem.name, problem.label(pair.candidate),
                                  verdict_sentence(pair.verdict, problem.label(pair.other))));
  return lines;
}

Section results(const RunRecord& record) {
  const Problems problems = shown_problems(record, {});
  Section section{"results", "Results", {}};
  Block table;
  table.table = sweep_table(problems, Layout::full, decimals_for(record, kWideTerminal));
  table.sentences = {"err: largest error as a share of the budget"};
  for (std::string& note : footnotes(problems)) table.sentences.push_back(std::move(note));
  const auto add = [&](std::vector<std::string> lines) {
    table.sentences.insert(table.sentences.end(), lines.begin(), lines.end());
  };
  add(condition_lines(record, problems));
  add(users_pair_lines(record));
  add(model_lines(record));
  add({counts_line(record, problems.size())});
  section.blocks.push_back(std::move(table));
  return section;
}

std::string number(double value, int decimals) {
  return std::isfinite(value) ? fmt::format("{:.{}f}", value, decimals) : std::string("-");
}

void add_pair(Table& table, const RunRecord& record, const ProblemRecord& problem,
              std::size_t confirmation, std::string_view claim, const PairVerdict& pair) {
  const int decimals = std::max(3, ratio_decimals(record.options.margin));
  const stats::Verdict& verdict = pair.verdict;
  const bool known = verdict.has_interval() || verdict.is_bound();
  const std::string limit =
      std::isfinite(verdict.smallest_detectable) ? percent(verdict.smallest_detectable) : "-";
  table.rows.push_back({{{problem.name},
                         {fmt::format("{} of {}", confirmation + 1, problem.confirmations.size())},
                         {std::string(claim)},
                         {problem.label(pair.candidate)},
                         {problem.label(pair.other)},
                         {known ? number(verdict.ratio, decimals) : "-"},
                         {known ? number(verdict.low, decimals) : "-"},
                         {known ? number(verdict.high, decimals) : "-"},
                         {std::string(stats::to_string(verdict.word)), tone_of(verdict.word)},
                         {limit},
                         {fmt::format("{}", verdict.processes)},
                         {verdict.reason}},
                        {}});
}

Section intervals(const RunRecord& record) {
  Section section{"intervals", "Every interval", {}};
  Table table = table_of({{.title = "shape"},
                          {.title = "confirmation"},
                          {.title = "claim"},
                          {.title = "kernel"},
                          {.title = "against"},
                          {.title = "ratio", .align = Align::right},
                          {.title = "low", .align = Align::right},
                          {.title = "high", .align = Align::right},
                          {.title = "verdict"},
                          {.title = "would show", .align = Align::right},
                          {.title = "processes", .align = Align::right},
                          {.title = "why unsure"}});
  for (const ProblemRecord& problem : record.problems) {
    for (std::size_t i = 0; i < problem.confirmations.size(); ++i) {
      const Conclusion& conclusion = problem.confirmations[i].conclusion;
      if (conclusion.headline && !conclusion.headline->is_of_itself())
        add_pair(table, record, problem, i, "headline", *conclusion.headline);
      for (const PairVerdict& pair : conclusion.against_leader)
        add_pair(table, record, problem, i, "leader", pair);
      for (const PairVerdict& pair : conclusion.against_stock)
        add_pair(table, record, problem, i, "stock", pair);
    }
    for (const PairVerdict& pair : users_pairs(record, problem))
      add_pair(table, record, problem, problem.confirmations.size() - 1, "--against", pair);
  }
  Block block;
  if (table.rows.empty()) {
    block.sentences = {"Nothing was confirmed: this run makes no claim."};
  } else {
    block.sentences = {
        fmt::format("Ratio: time of the other over time of the kernel, above 1 the kernel is "
                    "faster; low and high: its {} interval over fresh processes.",
                    percent(record.options.confidence)),
        "Would show: the smallest difference that this run would have found. Of several "
        "confirmations of a shape the last one decides."};
    block.table = std::move(table);
  }
  section.blocks.push_back(std::move(block));
  return section;
}

Tone ending_tone(const Ending& ending) {
  if (is_timed(ending)) return Tone::plain;
  return std::holds_alternative<ending::NotReached>(ending) ? Tone::caution : Tone::bad;
}

// Per launch, and where that was seen.
std::pair<double, std::string_view> time_and_place_of(const ProblemRecord& problem,
                                                      const KernelOutcome& kernel) {
  if (const Conclusion* conclusion = problem.conclusion()) {
    if (const double us = conclusion->median_us(kernel.id); us > 0) return {us, "confirmation"};
  }
  return kernel.race && kernel.race->median_us > 0
             ? std::pair(kernel.race->median_us, std::string_view("race"))
             : std::pair(0.0, std::string_view());
}

std::vector<const KernelOutcome*> in_order(const ProblemRecord& problem) {
  std::vector<const KernelOutcome*> kernels;
  for (const KernelOutcome& kernel : problem.kernels) kernels.push_back(&kernel);
  std::stable_sort(kernels.begin(), kernels.end(),
                   [&](const KernelOutcome* one, const KernelOutcome* other) {
                     const bool first = is_timed(one->ending), second = is_timed(other->ending);
                     if (first != second) return second;
                     if (!first) return one->ending.index() < other->ending.index();
                     const double us = time_and_place_of(problem, *one).first;
                     const double other_us = time_and_place_of(problem, *other).first;
                     return (us > 0 ? us : HUGE_VAL) < (other_us > 0 ? other_us : HUGE_VAL);
                   });
  return kernels;
}

std::string count_endings(const ProblemRecord& problem) {
  std::vector<std::size_t> counts(std::variant_size_v<Ending>);
  for (const KernelOutcome& kernel : problem.kernels) ++counts[kernel.ending.index()];
  // In the order of the variant; each name from a kernel that ended so.
  std::string text;
  for (const KernelOutcome& kernel : problem.kernels) {
    std::size_t& count = counts[kernel.ending.index()];
    if (count == 0) continue;
    std::string name(ending_name(kernel.ending));
    std::replace(name.begin(), name.end(), '_', ' ');
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, name);
    count = 0;
  }
  return text.empty() ? "no kernel took part" : text;
}

Block kernels_of(const ProblemRecord& problem) {
  Block block;
  block.title = fmt::format("{}: {}", problem.name, count_endings(problem));
  block.folded = true;
  Table table = table_of({{.title = "kernel"},
                          {.title = "role"},
                          {.title = "ending"},
                          {.title = "us", .align = Align::right},
                          {.title = "timed in"},
                          {.title = "rounds", .align = Align::right},
                          {.title = "err", .align = Align::right},
                          {.title = "checks", .align = Align::right},
                          {.title = "id"}});
  const auto kernels = in_order(problem);
  for (std::size_t i = 0; i < std::min(kernels.size(), kMostKernels); ++i) {
    const KernelOutcome& kernel = *kernels[i];
    const auto [us, where] = time_and_place_of(problem, kernel);
    table.rows.push_back({{{kernel.label()},
                           {std::string(to_string(kernel.role))},
                           {ending_sentence(kernel.ending), ending_tone(kernel.ending)},
                           {microseconds(us)},
                           {std::string(where)},
                           {kernel.race ? fmt::format("{}", kernel.race->rounds) : "-"},
                           {kernel.proof ? number(kernel.proof->max_error, 2) : "-"},
                           {kernel.proof ? fmt::format("{}", kernel.proof->checks.size()) : "-"},
                           {kernel.id.substr(0, 12)}},
                          {}});
  }
  if (!table.rows.empty()) block.table = std::move(table);
  if (kernels.size() > kMostKernels)
    block.sentences = {fmt::format("{} slower ones are not shown; the record has them",
                                   thousands(std::ssize(kernels) - std::ssize(block.table->rows)))};
  return block;
}

Section endings(const RunRecord& record) {
  Section section{"kernels", "How every kernel ended", {}};
  Block note;
  note.sentences = {
      "Err: largest error as a share of the budget. Those that fell stand first, then the "
      "fastest; refused ones are counted below."};
  section.blocks.push_back(std::move(note));
  for (const ProblemRecord& problem : record.problems)
    section.blocks.push_back(kernels_of(problem));
  return section;
}

Section refusals(const RunRecord& record) {
  Section section{"refusals", "Refusals by reason", {}};
  Block block;
  Table table = table_of({{.title = "shape"},
                          {.title = "reason"},
                          {.title = "kernels", .align = Align::right},
                          {.title = "for example"}});
  for (const ProblemRecord& problem : record.problems)
    for (const auto& [reason, refusal] : refusals_of(problem))
      table.rows.push_back(
          {{{problem.name}, {reason}, {thousands(refusal.count)}, {refusal.example}}, {}});
  if (table.rows.empty())
    block.sentences = {"No kernel was refused."};
  else
    block.table = std::move(table);
  section.blocks.push_back(std::move(block));
  return section;
}

Section findings(const RunRecord& record) {
  Section section{"findings", "Findings", {}};
  Table table = table_of(
      {{.title = "shape"}, {.title = "kernel"}, {.title = "finding"}, {.title = "what was seen"}});
  const auto add = [&](const std::string& problem, const std::string& kernel,
                       const std::vector<Finding>& list) {
    for (const Finding& finding : list)
      table.rows.push_back(
          {{{problem}, {kernel}, {finding.code, Tone::caution}, {finding.sentence}}, {}});
  };
  // The run's own repeat those of its problems, whose sentences they name.
  add("", "", record.findings);
  for (const ProblemRecord& problem : record.problems)
    for (const KernelOutcome& kernel : problem.kernels)
      add(problem.name, kernel.label(), kernel.findings);
  Block block;
  for (const std::string& warning : record.environment.warnings)
    block.sentences.push_back("Warning: " + warning);
  if (table.rows.empty())
    block.sentences.insert(block.sentences.begin(), "Nothing was found beside the endings.");
  else
    block.table = std::move(table);
  section.blocks.push_back(std::move(block));
  return section;
}

}  // namespace

std::string run_title(const RunRecord& record) {
  const std::string what = !record.options.suite.empty() ? record.options.suite
                           : record.problems.size() == 1 ? record.problems.front().name
                                                         : record.id;
  return (record.kind.empty() ? "run" : record.kind) + " " + what;
}

std::vector<Section> run_sections(const RunRecord& record, std::span<const RunRecord> beside) {
  std::vector<Section> sections = {results(record), intervals(record)};
  if (!beside.empty()) sections.push_back(other_conditions(record, beside));
  if (Section rankers = rankers_section(record); !rankers.blocks.empty())
    sections.push_back(std::move(rankers));
  for (Section& section :
       std::vector<Section>{endings(record), refusals(record), findings(record),
                            environment_section(record), evidence_section(record)})
    sections.push_back(std::move(section));
  return sections;
}

}  // namespace assay::report
