#include "assay/sweep/worker_rankers.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <nlohmann/json.hpp>

#include "assay/kernel/metadata_table.h"
#include "assay/sweep/protocol.h"

namespace assay::sweep {

const WorkerRankers::Opened& WorkerRankers::open(const Ranker& ranker,
                                                 const ProviderSettings& settings) {
  const std::string key = canonical({{"name", ranker.info().name}, {"settings", settings}});
  const auto found = opened_.find(key);
  if (found != opened_.end()) return found->second;
  return opened_.emplace(key, ranker.open(settings)).first->second;
}

Result<Json> WorkerRankers::each(
    const Json& message, const std::function<void(const Scorer& scorer, Json& answer)>& ask) {
  Json answers = Json::array();
  for (const Json& wanted : message.value("rankers", Json::array())) {
    ASSAY_TRY(const std::string name, text(wanted, "name"));
    const auto ranker = std::find_if(rankers_.begin(), rankers_.end(), [&](const auto& candidate) {
      return candidate->info().name == name;
    });
    if (ranker == rankers_.end())
      return fail(ErrorCode::internal, "a worker has no ranker '{}'", name);
    ProviderSettings settings;
    const Json given = wanted.value("settings", Json::object());
    for (const auto& [key, value] : given.items())
      if (value.is_string()) settings[key] = value.get<std::string>();
    Json& answer = answers.emplace_back(Json{{"name", name}});
    if (const Opened& scorer = open(**ranker, settings); !scorer) {
      answer["missing"] = scorer.error().message;
    } else {
      answer["version"] = (*scorer)->version();
      answer["path"] = (*scorer)->path();
      ask(**scorer, answer);
    }
  }
  return answers;
}

Result<Json> WorkerRankers::list(const Json& message) {
  return each(message, [](const Scorer&, Json&) {});
}

Result<Json> WorkerRankers::rank(const Json& message, const Problem& problem,
                                 const DeviceFacts& device) {
  std::vector<KernelMetadata> rows;
  ASSAY_TRY(const Json* kernels, member(message, "kernels"));
  ASSAY_TRY(read_table(*kernels, [&](const Json&, KernelMetadata row) -> Status {
    rows.push_back(std::move(row));
    return {};
  }));
  return each(message, [&](const Scorer& scorer, Json& answer) {
    const Scores scores = scorer.score(rows, problem, device);
    Json& costs = answer["costs"] = Json::array();
    for (const double cost : scores.costs) costs.push_back(std::isnan(cost) ? Json() : Json(cost));
    answer["unscored"] = scores.unscored;
  });
}

}  // namespace assay::sweep
