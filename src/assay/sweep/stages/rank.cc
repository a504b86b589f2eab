#include "assay/sweep/stages/rank.h"

// Which kernels are built first, and which are not, where compiling all would take too long.

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <set>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "assay/base/text.h"
#include "assay/kernel/metadata_table.h"
#include "assay/kernel/ranker.h"
#include "assay/sweep/stages/station.h"

namespace assay::sweep {
namespace {

// Of a library that is mapped from a cold disk, and 77,036 rows.
constexpr double kRankSeconds = 120;
// A ranker scores all rows of a problem, which may be tens of thousands, in one answer.
constexpr double kTimeoutsOfRanker = 3;
// Rows of one message: each is a kilobyte.
constexpr size_t kRowsAtOnce = 1024;

bool is_costly(const Candidate& candidate) {
  return candidate.compile_seconds > 0 && candidate.outcome.role != KernelRole::user &&
         !candidate.is_default;
}

// What one ranker said, checked.
struct Ranking {
  RankingRecord::Asked asked;
  std::vector<size_t> order;  // Of all candidates.
};

Ranking take_ranking(const std::string& name, process::Rank::Answer answer, Field& field) {
  Ranking ranking;
  RankingRecord::Asked& asked = ranking.asked;
  asked.name = name;
  asked.missing = answer.found.missing.value_or("");
  std::vector<double> costs(field.candidates.size(), std::numeric_limits<double>::quiet_NaN());
  if (!answer.found.missing) {
    asked.version = std::move(answer.found.version);
    asked.path = std::move(answer.found.path);
    for (size_t i = 0; i < costs.size(); ++i) {
      if (!answer.costs[i]) continue;
      costs[i] = *answer.costs[i];
      ++asked.scored;
    }
    asked.unscored = std::move(answer.unscored);
  }
  ranking.order = order_of(costs);
  for (size_t i = 0; i < static_cast<size_t>(asked.scored); ++i)
    field.candidates[ranking.order[i]].outcome.ranks[asked.name] = static_cast<int64_t>(i + 1);
  return ranking;
}

// Behind one another in the order of building; what is built in any case stays in front, as it
// stands. Kernels of one artifact have the place of the first of them.
void put_in_order(Field& field, const std::vector<size_t>& order) {
  std::map<std::string, std::map<std::string_view, int>> places;  // By provider and artifact.
  for (const size_t index : order) {
    Candidate& candidate = field.candidates[index];
    if (!is_costly(candidate)) continue;
    auto& taken = places[candidate.outcome.provider];
    candidate.place =
        taken.try_emplace(candidate.artifact_id, static_cast<int>(taken.size()) + 1).first->second;
  }
  places.clear();  // Its keys are the candidates'.
  std::vector<Candidate> sorted;
  sorted.reserve(field.candidates.size());
  for (Candidate& candidate : field.candidates)
    if (candidate.place == 0) sorted.push_back(std::move(candidate));
  for (const size_t index : order)
    if (field.candidates[index].place > 0) sorted.push_back(std::move(field.candidates[index]));
  field.candidates = std::move(sorted);
}

}  // namespace

namespace {

// A library that brings the process down is a ranker that cannot be asked, and no more.
Result<process::Rank::Answer> ask_ranker(Crew& crew, const process::Rank& asked,
                                         double timeout_seconds) {
  // Not where users' code says what there is: this one runs none of it.
  ASSAY_TRY(Child * worker, crew.builder());
  auto answer = worker->call(asked, kTimeoutsOfRanker * timeout_seconds);
  if (answer) return std::move(*answer);
  if (!std::holds_alternative<Death>(answer.error()))
    return fail(as_error(answer.error(), "ranking kernels"));
  process::Rank::Answer missing;
  missing.found.missing = as_error(answer.error(), "while it ranked kernels").message;
  return missing;
}

}  // namespace

Status rank(const Request& request, Crew& crew, const Problem& problem,
            const std::optional<std::string>& target, std::span<const KernelMetadata> rows,
            Field& field) {
  const auto costly = std::ranges::count_if(field.candidates, is_costly);
  if (costly == 0) return {};
  RankingRecord& record = field.ranking.emplace();
  record.ranker = request.pool.ranker;
  record.build = request.pool.build;
  record.costly = costly;
  std::vector<size_t> order(field.candidates.size());
  std::iota(order.begin(), order.end(), size_t{0});
  if (!request.pool.rankers.empty()) {
    process::Rank asked{
        .problem = problem, .kernels = table_json(rows), .count = rows.size(), .target = target};
    for (const process::AskedRanker& ranker : request.pool.rankers) {
      asked.ranker = ranker;
      ASSAY_TRY(auto answer, ask_ranker(crew, asked, request.limits.trial_seconds));
      Ranking ranking = take_ranking(ranker.name, std::move(answer), field);
      if (ranking.asked.name == request.pool.ranker) {
        if (!ranking.asked.missing.empty())
          return fail(ErrorCode::invalid_input, "--ranker: {} cannot be asked here: {}",
                      request.pool.ranker, sanitize(ranking.asked.missing, 600));
        order = std::move(ranking.order);
      }
      record.rankers.push_back(std::move(ranking.asked));
    }
  }
  put_in_order(field, order);
  return {};
}

namespace {

// The artifacts of the candidates `asked` that the cache has, or a pool that a provider knows of.
Result<std::set<std::string>> find_cached(const Station& station,
                                          const std::vector<const Candidate*>& asked) {
  std::set<std::string> cached;
  ASSAY_TRY(Child * worker, station.crew.builder());
  for (size_t begin = 0; begin < asked.size(); begin += kRowsAtOnce) {
    const size_t end = std::min(asked.size(), begin + kRowsAtOnce);
    process::FindCached find{station.problem, {}};
    for (size_t i = begin; i < end; ++i) find.rows.push_back(asked[i]->row());
    ASSAY_TRY(const auto answer, ask(*worker, find, kRankSeconds, "looking for compiled kernels"));
    for (size_t i = begin; i < end; ++i)
      if (answer.cached[i - begin]) cached.insert(asked[i]->artifact_id);
  }
  return cached;
}

}  // namespace

std::string why_not_built(const Request& request) {
  return fmt::format(
      "not built: ranked below {} by {}", request.pool.build,
      request.pool.ranker.empty() ? "the order in which they are listed" : request.pool.ranker);
}

Status leave_out(const Station& station, Field& field) {
  if (!field.ranking || station.request.pool.build <= 0) return {};
  const auto is_beyond = [&](const Candidate& candidate) {
    return candidate.place > station.request.pool.build && !candidate.built;
  };
  std::vector<const Candidate*> beyond;  // One of each artifact.
  std::set<std::string_view> seen;
  for (const Candidate& candidate : field.candidates)
    if (is_beyond(candidate) && seen.insert(candidate.artifact_id).second)
      beyond.push_back(&candidate);
  if (beyond.empty()) return {};
  ASSAY_TRY(const std::set<std::string> cached, find_cached(station, beyond));
  // A race that is gone on with had its field; the cache may hold more by now.
  ASSAY_TRY(const auto race, station.journal.race(station.problem.name()));
  std::set<std::string> raced;
  if (race)
    for (const Journal::Raced& kernel : race->kernels) raced.insert(kernel.outcome.id);
  const auto before = static_cast<int64_t>(field.candidates.size());
  std::erase_if(field.candidates, [&](const Candidate& candidate) {
    return is_beyond(candidate) && (!cached.contains(candidate.artifact_id) ||
                                    (race && !raced.contains(candidate.outcome.id)));
  });
  const int64_t left = before - static_cast<int64_t>(field.candidates.size());
  field.ranking->not_built = left;
  field.refusals.add(Reason::not_built, left,
                     fmt::format("{}; --build says how many are, --exhaustive builds all",
                                 why_not_built(station.request)));
  return {};
}

}  // namespace assay::sweep
