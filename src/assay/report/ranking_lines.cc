#include "assay/report/ranking_lines.h"

#include <algorithm>
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

std::string choice_text(const RankingRecord& ranking) {
  const std::string who = ranking.ranker.empty() ? "their own order" : sanitize(ranking.ranker, 80);
  const std::string chosen =
      ranking.not_built > 0
          ? fmt::format("chose {} of", thousands(ranking.costly - ranking.not_built))
          : "ordered all";
  return fmt::format("{} {} {} kernels that cost much to compile", who, chosen,
                     thousands(ranking.costly));
}

// "3 of 48"; empty where the ranker that chose has no score of the winner.
std::string place_of_winner(const ProblemRecord& problem) {
  const RankingRecord& ranking = *problem.ranking;
  const auto rank = problem.winner()->ranks.find(ranking.ranker);
  if (rank == problem.winner()->ranks.end()) return {};
  return fmt::format("{} of {}", thousands(rank->second),
                     thousands(scored_by(ranking, ranking.ranker)));
}

std::string behind_text(const RankerHindsight& seen) {
  if (!seen.recalled) return "-";
  return std::isfinite(seen.behind) ? percent(seen.behind) : std::string("none was timed");
}

}  // namespace

std::string ranking_text(const ProblemRecord& problem) {
  if (!problem.ranking) return {};
  const std::string text = choice_text(*problem.ranking);
  if (problem.winner() == nullptr || problem.ranking->ranker.empty()) return text;
  const std::string place = place_of_winner(problem);
  return text + (place.empty() ? "; the winner is none that it could score"
                               : fmt::format("; the winner is its number {}", place));
}

std::vector<std::string> ranking_lines(std::span<const ProblemRecord* const> problems) {
  std::vector<std::pair<std::string, std::vector<const ProblemRecord*>>> alike;  // By their choice.
  for (const ProblemRecord* problem : problems) {
    if (!problem->ranking) continue;
    const std::string choice = choice_text(*problem->ranking);
    auto found = std::ranges::find(alike, choice, [](const auto& group) { return group.first; });
    if (found == alike.end()) found = alike.insert(found, {choice, {}});
    found->second.push_back(problem);
  }
  std::vector<std::string> lines;
  for (const auto& [choice, group] : alike) {
    if (group.size() == 1) {
      lines.push_back(
          fmt::format("ranking {}: {}", group.front()->name, ranking_text(*group.front())));
      continue;
    }
    std::vector<std::string> places;
    int unscored = 0;
    for (const ProblemRecord* problem : group) {
      if (problem->winner() == nullptr || problem->ranking->ranker.empty()) continue;
      const std::string place = place_of_winner(*problem);
      if (place.empty())
        ++unscored;
      else
        places.push_back(fmt::format("{} for {}", place, problem->name));
    }
    std::string line = fmt::format("ranking {}, for each of {} shapes", choice, group.size());
    if (!places.empty()) line += "; the winner is its number " + join(places, ", ");
    if (unscored > 0)
      line += fmt::format("; {} {} that it could not score", thousands(unscored),
                          unscored == 1 ? "winner is one" : "winners are kernels");
    lines.push_back(std::move(line));
  }
  return lines;
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
