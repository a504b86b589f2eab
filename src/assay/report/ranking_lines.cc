#include "assay/report/ranking_lines.h"

#include <cmath>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "assay/base/text.h"
#include "assay/report/words.h"

namespace assay::report {
namespace {

std::int64_t scored_by(const RankingRecord& ranking, const std::string& ranker) {
  for (const RankingRecord::Asked& asked : ranking.rankers)
    if (asked.name == ranker) return asked.scored;
  return 0;
}

std::string behind_text(const RankerHindsight& seen) {
  if (!seen.recalled) return "-";
  return std::isfinite(seen.behind) ? percent(seen.behind) : std::string("none was timed");
}

}  // namespace

std::string ranking_text(const ProblemRecord& problem) {
  if (!problem.ranking) return {};
  const RankingRecord& ranking = *problem.ranking;
  const bool listed = ranking.ranker.empty();
  const std::string who = listed ? "their own order" : sanitize(ranking.ranker, 80);
  const std::string chosen =
      ranking.not_built > 0
          ? fmt::format("chose {} of", thousands(ranking.costly - ranking.not_built))
          : "ordered all";
  std::string text = fmt::format("{} {} {} kernels that cost much to compile", who, chosen,
                                 thousands(ranking.costly));
  const KernelOutcome* winner = problem.winner();
  if (winner == nullptr || listed) return text;
  const auto rank = winner->ranks.find(ranking.ranker);
  if (rank == winner->ranks.end()) return text + "; the winner is none that it could score";
  return text + fmt::format("; the winner is its number {} of {}", thousands(rank->second),
                            thousands(scored_by(ranking, ranking.ranker)));
}

Section rankers_section(const RunRecord& record) {
  Section section{"rankers", "Rankers", {}};
  Table table;
  table.columns = {{.title = "shape"},
                   {.title = "ranker"},
                   {.title = "the winner's rank", .align = Align::right},
                   {.title = fmt::format("recall@{}", kRecalled)},
                   {.title = "behind the best", .align = Align::right}};
  std::map<std::string, std::pair<int, int>> recalled;  // Of shapes where it is known.
  bool unknown = false;
  Block block;
  for (const ProblemRecord& problem : record.problems) {
    if (const std::string text = ranking_text(problem); !text.empty())
      block.sentences.push_back(fmt::format("{}: {}", problem.name, text));
    for (const RankerHindsight& seen : hindsight(problem)) {
      if (seen.recalled) {
        recalled[seen.ranker].first += *seen.recalled ? 1 : 0;
        ++recalled[seen.ranker].second;
      }
      unknown = unknown || !seen.recalled;
      table.rows.push_back(
          {{{problem.name},
            {seen.ranker},
            {seen.winners_rank > 0
                 ? fmt::format("{} of {}", thousands(seen.winners_rank), thousands(seen.scored))
                 : fmt::format("none of {}", thousands(seen.scored))},
            {!seen.recalled   ? "-"
             : *seen.recalled ? "yes"
                              : "no",
             !seen.recalled   ? Tone::plain
             : *seen.recalled ? Tone::good
                              : Tone::caution},
            {behind_text(seen)}},
           {}});
    }
  }
  if (block.sentences.empty()) return section;
  for (const auto& [ranker, counts] : recalled)
    block.sentences.push_back(fmt::format("{}: recall@{} on {} of {} shapes", sanitize(ranker, 80),
                                          kRecalled, counts.first, counts.second));
  if (!recalled.empty())
    block.sentences.push_back(fmt::format(
        "Recall@{}: whether one of a ranker's first {} is within {} of the fastest that it could "
        "score. Times are those of the race where not both were confirmed: no claim.",
        kRecalled, kRecalled, percent(kRecallWithin)));
  if (unknown)
    block.sentences.push_back(
        fmt::format("Recall@{} is known where every kernel was built and timed: sweep --exhaustive",
                    kRecalled));
  if (!table.rows.empty()) block.table = std::move(table);
  section.blocks.push_back(std::move(block));
  return section;
}

}  // namespace assay::report
