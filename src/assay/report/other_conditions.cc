#include "assay/report/other_conditions.h"

#include <algorithm>
#include <optional>
#include <string>

#include <fmt/format.h>

#include "assay/record/conclude.h"
#include "assay/report/words.h"

namespace assay::report {
namespace {

std::string condition_text(const ProblemRecord& problem) {
  return fmt::format("{}, {}, {}; preparation {}, dependent launch {}", problem.condition.cache,
                     problem.condition.spacing, problem.condition.launch,
                     problem.race_class.preparation, problem.race_class.dependent_launch);
}

// -1, 1: clear of 0; 0: either may be the faster one.
int sign(const stats::Verdict& verdict) {
  if (!verdict.has_interval() && !verdict.is_bound()) return 0;
  return verdict.low > 1 ? 1 : verdict.high < 1 ? -1 : 0;
}

std::string said(const stats::Verdict& verdict) {
  return fmt::format("{} {}", ratio_interval(verdict, ratio_decimals(verdict.margin)),
                     stats::to_string(verdict.word));
}

}  // namespace

Section other_conditions(const RunRecord& record, std::span<const RunRecord> beside) {
  Section section{"conditions", "Under other conditions", {}};
  Table table;
  for (const char* title :
       {"shape", "kernel", "against", "here", "there", "condition there", "sign"})
    table.columns.push_back({.title = title});
  int flips = 0;
  bool other_device = false;
  for (const ProblemRecord& problem : record.problems) {
    const PairVerdict* pair = problem.headline();
    if (pair == nullptr || pair->candidate == pair->other) continue;
    for (const RunRecord& run : beside) {
      for (const ProblemRecord& there : run.problems) {
        if (there.key != problem.key || condition_text(there) == condition_text(problem)) continue;
        const auto verdict = verdict_between(there, run.options, pair->candidate, pair->other);
        if (!verdict) continue;
        other_device |= run.environment.device.id != record.environment.device.id;
        const int here_sign = sign(pair->verdict), there_sign = sign(*verdict);
        const bool flipped = here_sign * there_sign < 0;
        flips += flipped ? 1 : 0;
        table.rows.push_back(
            {{{problem.name},
              {problem.label(pair->candidate)},
              {problem.label(pair->other)},
              {said(pair->verdict), tone_of(pair->verdict.word)},
              {said(*verdict), tone_of(verdict->word)},
              {condition_text(there)},
              flipped ? Cell{"flips", Tone::bad}
                      : Cell{here_sign == there_sign && here_sign != 0 ? "the same" : "open"}},
             {}});
      }
    }
  }
  Block block;
  if (table.rows.empty()) {
    block.sentences = {
        "No run given beside this one confirmed the same two kernels under another condition."};
  } else {
    block.sentences = {
        flips == 0 ? std::string("No sign is another one there.")
                   : fmt::format("{} of {} signs are another one there: who is faster depends on "
                                 "the condition.",
                                 flips, table.rows.size())};
    if (other_device) block.sentences.push_back("Some of those runs were made on another device.");
    block.table = std::move(table);
  }
  section.blocks.push_back(std::move(block));
  return section;
}

}  // namespace assay::report
