#include <algorithm>
#include <set>
#include <vector>

#include <fmt/format.h>

#include "assay/base/operation_name.h"
#include "assay/base/text.h"
#include "assay/record/conclude.h"
#include "assay/report/ranking_lines.h"
#include "assay/report/safe.h"
#include "assay/report/sweep_parts.h"
#include "assay/report/sweep_report.h"
#include "assay/report/tunables.h"
#include "assay/report/words.h"

namespace assay::report {
namespace {

constexpr int kLabelWidth = 10;  // "proving   ", "verdict   " ...

std::string labelled(std::string_view label, const std::string& text, const TextStyle& style) {
  return wrap(pad(label, kLabelWidth - 1) + ' ' + text, style.width, kLabelWidth);
}

// Whom a verdict speaks of: where the stock kernels of one library alone took part, it says so.
std::string best_rival(const ProblemRecord& problem) {
  if (rivals_of(problem) == KernelRole::ours)
    return "the best of assay's own (no stock kernel takes this problem)";
  std::set<std::string> providers;
  for (const KernelOutcome& kernel : problem.kernels)
    if (kernel.role == KernelRole::stock) providers.insert(kernel.provider);
  return providers.size() == 1
             ? fmt::format("the best stock kernel of {} alone", safe(*providers.begin()))
             : "the best stock kernel";
}

// A user's kernel that never came to be timed has its ending for a verdict.
const KernelOutcome* fallen(const ProblemRecord& problem) {
  const KernelOutcome* found = nullptr;
  for (const KernelOutcome& kernel : problem.kernels) {
    if (kernel.role != KernelRole::user) continue;
    if (is_timed(kernel.ending)) return nullptr;
    if (found == nullptr) found = &kernel;
  }
  return found;
}

std::string example_of(const KernelOutcome& kernel) {
  const auto* mismatch = std::get_if<ending::Mismatch>(&kernel.ending);
  if (mismatch == nullptr) {
    return fmt::format("{} {}", safe(kernel.name), ending_sentence(kernel.ending));
  }
  return fmt::format("{}: {}", safe(kernel.name), safe(mismatch->message));
}

// Kernels that ended alike, by the first of them.
class Endings {
 public:
  // told: what ended it stands elsewhere.
  void add(const KernelOutcome& kernel, bool told) {
    const std::string_view ending = ending_name(kernel.ending);
    const std::string_view word = ending == "mismatch" ? "wrong" : ending;
    auto found = std::ranges::find(groups_, word, &Group::word);
    if (found == groups_.end())
      found = groups_.insert(found,
                             {std::string(word), 0, told ? safe(kernel.name) : example_of(kernel)});
    ++found->count;
  }

  // "2 wrong (...), 1 out of memory (...)"; empty for none.
  std::string text() const {
    std::vector<std::string> texts;
    for (const Group& group : groups_) {
      std::string word = group.word;
      std::replace(word.begin(), word.end(), '_', ' ');
      texts.push_back(fmt::format("{} {} ({})", group.count, word, group.example));
    }
    return join(texts, ", ");
  }

 private:
  struct Group {
    std::string word;
    int count = 0;
    std::string example;
  };
  std::vector<Group> groups_;
};

// What was right, what was not, and what was and fell later.
std::string proving(const ProblemRecord& problem) {
  int tried = 0, right = 0, normwise = 0;
  Endings fell, fell_later;
  const KernelOutcome* in_verdict = fallen(problem);
  for (const KernelOutcome& kernel : problem.kernels) {
    const std::string_view ending = ending_name(kernel.ending);
    if (kernel.role == KernelRole::reference || ending == "refusal") continue;
    ++tried;
    const bool proven = kernel.proof && kernel.proof->right;
    right += proven;
    normwise += proven && kernel.is_normwise();
    if (ending != "timed" && ending != "not_reached")
      (proven ? fell_later : fell).add(kernel, &kernel == in_verdict);
  }
  std::string text = fmt::format("{} kernel{}: {} right", tried, tried == 1 ? "" : "s", right);
  if (normwise > 0) text += fmt::format(" ({} of them normwise)", normwise);
  if (const std::string others = fell.text(); !others.empty()) text += ", " + others;
  if (const std::string later = fell_later.text(); !later.empty()) text += "; later " + later;
  return text;
}

std::string racing(const ProblemRecord& problem, const TextStyle& style) {
  std::vector<std::pair<std::string, int>> providers;
  bool yours = false;
  for (const KernelOutcome& kernel : problem.kernels) {
    if (!kernel.race) continue;
    if (kernel.role == KernelRole::user) {
      yours = true;
      continue;
    }
    auto found = std::find_if(providers.begin(), providers.end(),
                              [&](const auto& entry) { return entry.first == kernel.provider; });
    if (found == providers.end()) found = providers.insert(providers.end(), {kernel.provider, 0});
    ++found->second;
  }
  std::vector<std::string> texts;
  for (const auto& [provider, count] : providers) {
    texts.push_back(fmt::format("{} ({})", safe(provider), count));
  }
  if (yours) texts.emplace_back("yours");
  std::string text = texts.empty() ? "nobody" : join(texts, ", ");
  if (!problem.race) return text;
  const std::string rounds =
      fmt::format("{} round{}", problem.race->rounds, problem.race->rounds == 1 ? "" : "s");
  const int room = std::min(style.width, 80) - kLabelWidth - display_width(rounds);
  return display_width(text) + 2 <= room ? pad(text, room) + rounds : text + ", " + rounds;
}

std::string indented(const std::string& text) {
  std::string out;
  for (const std::string_view line : split(text, '\n'))
    if (!line.empty()) out += std::string(kLabelWidth, ' ') + std::string(line) + '\n';
  return out;
}

// The kernels that the verdict is of, the winner, the user's and the default: a line each.
std::string times(const ProblemRecord& problem, const TextStyle& style) {
  TextStyle within = style;
  within.width = std::max(40, style.width - kLabelWidth);
  Table table = parts_table(problem, Defaults::always, true);
  if (style.cuts && natural_width(table) > within.width)
    table = parts_table(problem, Defaults::always, false);
  return indented(text_table(table, within));
}

// A time is no claim, and the verdict is against the stock kernel over which least was shown: that
// need not be the one whose median is the smallest.
std::string faster_stock(const ProblemRecord& problem, const Conclusion& conclusion,
                         const PairVerdict& headline) {
  const KernelOutcome* fastest = nullptr;
  double least = conclusion.median_us(headline.other);
  for (const PairVerdict& pair : conclusion.against_stock) {
    const double us = conclusion.median_us(pair.other);
    if (us <= 0 || us >= least) continue;
    least = us;
    fastest = problem.find(pair.other);
  }
  if (fastest == nullptr) return {};
  return fmt::format(
      "{} has the smaller median, {} us: the verdict is against the {} where the least is certain, "
      "{}",
      safe(fastest->label()), microseconds(least),
      rivals_of(problem) == KernelRole::stock ? "stock kernel" : "kernel",
      safe(problem.label(headline.other)));
}

std::string why_no_stock(const ProblemRecord& problem) {
  const bool any = std::ranges::any_of(problem.kernels, [](const KernelOutcome& kernel) {
    return kernel.role == KernelRole::stock;
  });
  const auto missing = problem.refusals.find("library_missing");
  if (any) return "no stock kernel was confirmed beside it";
  if (is_defined_by_user(problem.operation))
    return "nobody else computes what you defined; hold your kernels against one another with "
           "--against FILE";
  if (missing == problem.refusals.end())
    return "no stock kernel takes this problem; `assay kernels --shape ... --why` says why not";
  return "no stock kernel took part: " + safe(missing->second.example);
}

// What was noticed of the user's kernels.
std::string users_findings(const ProblemRecord& problem, const TextStyle& style) {
  std::string out;
  for (const KernelOutcome& kernel : problem.kernels) {
    if (kernel.role != KernelRole::user) continue;
    for (const Finding& finding : kernel.findings)
      out += labelled("finding",
                      fmt::format("{}: {}: {}", safe(kernel.label()), safe(finding.code),
                                  sanitize(finding.sentence, 400)),
                      style);
  }
  return out;
}

// After wrapping: colour must not count as width. The word stands at the line's start.
std::string judged(std::string_view label, stats::Word verdict, const std::string& text,
                   const TextStyle& style) {
  std::string lines = labelled(label, text, style);
  const std::string word(stats::to_string(verdict));
  if (const std::size_t at = lines.find(word); at != std::string::npos)
    lines.replace(at, word.size(), coloured(word, tone_of(verdict), style));
  return lines;
}

std::string against_line(std::string_view label, const RaceAgainst& against,
                         const TextStyle& style) {
  return judged(label, against.verdict.word,
                verdict_sentence(against.verdict, sanitize(against.other, 200)), style);
}

// Without a verdict on the pool, the one that was asked for is the verdict.
std::string lines_without_headline(const ProblemRecord& problem, const RaceAgainst* against,
                                   const TextStyle& style) {
  if (problem.decisive() == nullptr)
    return labelled(
        "verdict",
        "none: " + (problem.no_winner.empty() ? "nothing was confirmed" : safe(problem.no_winner)),
        style);
  const std::string why =
      problem.no_winner.empty() ? why_no_stock(problem) : safe(problem.no_winner);
  if (against == nullptr) return labelled("verdict", "none: " + why, style) + times(problem, style);
  std::string lines = against_line("verdict", *against, style) + times(problem, style);
  if (!is_defined_by_user(problem.operation)) lines += labelled("", why, style);
  return lines;
}

std::string verdict_lines(const ProblemRecord& problem, const RaceAgainst* against,
                          const TextStyle& style) {
  if (const KernelOutcome* kernel = fallen(problem)) {
    return labelled("verdict", fmt::format("none: yours {}", ending_sentence(kernel->ending)),
                    style);
  }
  const Confirmation* confirmation = problem.decisive();
  if (confirmation == nullptr || !confirmation->conclusion.headline)
    return lines_without_headline(problem, against, style);
  const PairVerdict& headline = *confirmation->conclusion.headline;
  const stats::Verdict& verdict = headline.verdict;
  const KernelOutcome* candidate = problem.find(headline.candidate);
  const bool stock = candidate != nullptr && candidate->role == KernelRole::stock;
  if (headline.is_of_itself())
    return labelled("verdict", "none: the default won, and nothing was held against it", style) +
           times(problem, style) +
           (against == nullptr ? std::string() : against_line("against", *against, style));
  std::string text = verdict_sentence(verdict, stock ? "the default" : best_rival(problem));
  if (candidate != nullptr && candidate->is_normwise())
    text += fmt::format(" ({})", candidate->proof->word());
  const bool open = verdict.word == stats::Word::same || verdict.word == stats::Word::unsure;
  if (open && verdict.has_interval() && verdict.smallest_detectable > 0) {
    text += fmt::format("; differences from {} up would have shown",
                        percent(verdict.smallest_detectable));
  }
  std::string lines = judged("verdict", verdict.word, text, style) + times(problem, style);
  const std::string faster = faster_stock(problem, confirmation->conclusion, headline);
  if (!faster.empty()) lines += labelled("", faster, style);
  if (against != nullptr) lines += against_line("against", *against, style);
  return lines;
}

}  // namespace

std::string race_text(const RunRecord& record, const RaceReportOptions& options) {
  std::string out;
  for (const ProblemRecord& problem : record.problems) {
    if (options.named || record.problems.size() > 1) out += problem.name + '\n';
    if (is_defined_by_user(problem.operation))
      out += labelled("operation",
                      safe(short_operation_name(problem.operation)) + ", defined by the user (" +
                          safe(operation_title(problem.operation)) + ")",
                      options.style);
    out += labelled("proving", proving(problem), options.style);
    if (const std::string text = ranking_text(problem); !text.empty())
      out += labelled("building", text, options.style);
    out += labelled("racing", racing(problem, options.style), options.style);
    const auto against = options.against.find(problem.name);
    out += verdict_lines(problem, against == options.against.end() ? nullptr : &against->second,
                         options.style);
    out += tunables_text(problem, options.style);
    out += users_findings(problem, options.style);
  }
  for (const Finding& finding : record.findings) {
    out += labelled("finding", fmt::format("{}: {}", safe(finding.code), safe(finding.sentence)),
                    options.style);
  }
  // Of a machine that spoils times, if there are any.
  if (std::ranges::any_of(record.problems,
                          [](const ProblemRecord& problem) { return problem.race.has_value(); }))
    for (const std::string& warning : record.environment.warnings)
      out += labelled("warning", safe(warning), options.style);
  if (!options.record_path.empty()) {
    out += labelled("record",
                    sanitize(options.record_path, 1000) + "   (anyone can `assay replay` it)",
                    options.style);
  }
  return out;
}

}  // namespace assay::report
