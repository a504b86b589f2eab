#include "cli/show/progress.h"

#include <fmt/format.h>

#include "assay/base/text.h"
#include "assay/record/problem_row.h"
#include "assay/report/names.h"
#include "assay/report/width.h"
#include "assay/report/words.h"

namespace assay::cli {
namespace {

// Side by side where there is room, each whole.
std::vector<std::string> within_eighty(const std::vector<std::string>& parts) {
  constexpr int kColumns = 80;
  const std::string indent(11, ' ');
  std::vector<std::string> lines;
  for (const std::string& part : parts) {
    const bool fits =
        !lines.empty() &&
        report::display_width(lines.back()) + 2 + report::display_width(part) <= kColumns;
    if (fits)
      lines.back() += "  " + part;
    else
      lines.push_back(lines.empty() ? part : indent + part);
  }
  return lines;
}

class PlainProgress : public sweep::Observer {
 public:
  PlainProgress(Console& console, size_t problems) : console_(console), problems_(problems) {}

  void on_problem(size_t index, const Problem& problem, const measure::Condition&) override {
    if (problems_ > 1)
      console_.progress(
          fmt::format("{:>4}/{}  {}", index + 1, problems_, sanitize(problem.name(), 200)));
  }

  void on_stage(const std::string& stage, size_t done, size_t total,
                const std::string& what) override {
    if (stage == "confirm" && done == 1 && problems_ > 1)
      console_.progress("           confirming");
    if (console_.verbosity() > 0)
      console_.progress(fmt::format("      {} {}/{} {}", stage, done, total, sanitize(what, 200)));
  }

  void on_problem_done(size_t index, const ProblemRecord& record, bool from_journal) override {
    if (problems_ == 1 && console_.verbosity() == 0) return;  // The result says it all.
    std::vector<std::string> parts = ending(record);
    parts.insert(parts.begin(),
                 fmt::format("{:>4}/{}  {}", index + 1, problems_, sanitize(record.name, 200)));
    if (from_journal) parts.emplace_back("(from the journal)");
    for (const std::string& line : within_eighty(parts)) console_.progress(line);
    if (console_.verbosity() > 0) show_kernels(record);
  }

  void on_note(const std::string& sentence) override { console_.note(sentence); }

 private:
  static std::vector<std::string> ending(const ProblemRecord& record) {
    const ProblemRow row = row_of(record);
    if (row.winner == nullptr)
      return {record.no_winner.empty() ? "timed" : "no winner: " + sanitize(record.no_winner, 200)};
    std::vector<std::string> parts;
    for (const PartRow& part : parts_of(record)) {
      parts.push_back(fmt::format("{} {} {} us", report::part_word(part),
                                  report::short_name(record, *part.kernel),
                                  report::time_text(part)));
      if (const std::string claim = report::claim_text(record, part, 2); !claim.empty())
        parts.push_back(claim);
    }
    return parts;
  }

  void show_kernels(const ProblemRecord& record) {
    for (const KernelOutcome& kernel : record.kernels) {
      const double us = kernel.race ? kernel.race->median_us : 0;
      console_.progress(fmt::format("          {:<48} {:>10} us  {}", sanitize(kernel.label(), 200),
                                    report::microseconds(us),
                                    is_timed(kernel.ending) ? "" : ending_sentence(kernel.ending)));
    }
  }

  Console& console_;
  size_t problems_;
};

}  // namespace

std::unique_ptr<sweep::Observer> make_plain_progress(Console& console, size_t problems) {
  return std::make_unique<PlainProgress>(console, problems);
}

std::unique_ptr<sweep::Observer> make_progress(Console& console, const sweep::Request& request) {
  // Remarks of the library, which -v shows, and a view that redraws itself do not go together.
  if (console.live() && console.verbosity() == 0) return make_live_view(console, request);
  return make_plain_progress(console, request.question.problems.size());
}

std::string condition_words(const measure::Condition& condition) {
  const std::string_view cache = condition.cache == measure::Cache::cold_weights ? "weights cold"
                                 : condition.cache == measure::Cache::cold       ? "all cold"
                                                                                 : "warm";
  std::string spacing(to_string(condition.spacing));
  for (char& c : spacing)
    if (c == '_') c = ' ';
  return fmt::format("{}, {}, {}", cache, spacing, to_string(condition.launch));
}

}  // namespace assay::cli
