#include "assay/worker/rankers.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <nlohmann/json.hpp>

#include "assay/kernel/metadata_table.h"

namespace assay::sweep {
namespace {

process::FoundRanker found_by(const Result<std::unique_ptr<Scorer>>& scorer) {
  if (!scorer) return {.missing = scorer.error().message};
  return {.version = (*scorer)->version(), .path = (*scorer)->path()};
}

}  // namespace

Result<const WorkerRankers::Opened*> WorkerRankers::open(const process::AskedRanker& asked) {
  const auto ranker = std::ranges::find_if(
      rankers_, [&](const auto& candidate) { return candidate->info().name == asked.name; });
  if (ranker == rankers_.end())
    return fail(ErrorCode::internal, "a worker has no ranker '{}'", asked.name);
  const std::string key = canonical({{"name", asked.name}, {"settings", asked.settings}});
  const auto found = opened_.find(key);
  if (found != opened_.end()) return &found->second;
  return &opened_.emplace(key, (*ranker)->open(asked.settings)).first->second;
}

Result<process::FindRanker::Answer> WorkerRankers::find(const process::AskedRanker& ranker) {
  ASSAY_TRY(const Opened* scorer, open(ranker));
  return process::FindRanker::Answer{found_by(*scorer)};
}

Result<process::Rank::Answer> WorkerRankers::rank(const process::Rank& asked,
                                                  const DeviceFacts& device) {
  std::vector<KernelMetadata> rows;
  ASSAY_TRY(read_table(asked.kernels, [&](const Json&, KernelMetadata row) -> Status {
    rows.push_back(std::move(row));
    return {};
  }));
  ASSAY_TRY(const Opened* scorer, open(asked.ranker));
  process::Rank::Answer answer{.found = found_by(*scorer)};
  if (!*scorer) return answer;
  const Scores scores = (**scorer)->score(rows, *asked.problem, device);
  for (const double cost : scores.costs)
    answer.costs.push_back(std::isnan(cost) ? std::nullopt : std::optional(cost));
  answer.unscored = scores.unscored;
  return answer;
}

}  // namespace assay::sweep
