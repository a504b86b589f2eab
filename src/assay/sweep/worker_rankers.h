#pragma once

// The rankers that a worker can be asked. Some load a library, which the parent never does.

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/kernel/ranker.h"

namespace assay::sweep {

class WorkerRankers {
 public:
  explicit WorkerRankers(const std::vector<std::unique_ptr<Ranker>>& rankers) : rankers_(rankers) {}

  // message: rankers (a list of {name, settings}). Whether they are here.
  Result<Json> list(const Json& message);

  // message: kernels (blocks of rows), rankers (a list of {name, settings}).
  Result<Json> rank(const Json& message, const Problem& problem, const DeviceFacts& device);

 private:
  // Opened once for each ranker and its settings; a library that is missing stays missing.
  using Opened = Result<std::unique_ptr<Scorer>>;
  Result<Json> each(const Json& message,
                    const std::function<void(const Scorer& scorer, Json& answer)>& ask);
  const Opened& open(const Ranker& ranker, const ProviderSettings& settings);

  const std::vector<std::unique_ptr<Ranker>>& rankers_;
  std::map<std::string, Opened> opened_;
};

}  // namespace assay::sweep
