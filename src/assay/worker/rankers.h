#pragma once

// The rankers that a worker can be asked. Some load a library, which the parent never does.

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "assay/base/result.h"
#include "assay/kernel/ranker.h"
#include "assay/process/messages.h"

namespace assay::sweep {

class WorkerRankers {
 public:
  explicit WorkerRankers(const std::vector<std::unique_ptr<Ranker>>& rankers) : rankers_(rankers) {}

  // Whether it is here.
  Result<process::FindRanker::Answer> find(const process::AskedRanker& ranker);

  // device: where the kernels would run.
  Result<process::Rank::Answer> rank(const process::Rank& asked, const DeviceFacts& device);

 private:
  // Opened once for each ranker and its settings; a library that is missing stays missing.
  using Opened = Result<std::unique_ptr<Scorer>>;
  Result<const Opened*> open(const process::AskedRanker& ranker);

  const std::vector<std::unique_ptr<Ranker>>& rankers_;
  std::map<std::string, Opened> opened_;
};

}  // namespace assay::sweep
