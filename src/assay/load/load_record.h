#pragma once

// assay.load/1: the plan, where it ran, and what came of it, of one run or of several.

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "assay/base/json.h"
#include "assay/load/result.h"
#include "assay/record/environment.h"

namespace assay::load {

inline constexpr double kRunsConfidence = 0.95;
inline constexpr int kFewestRunsOfInterval = 3;

struct LoadRecord {
  LoadPlan plan;
  Json dataset = Json::object();
  Json metadata = Json::object();  // As the user gave it.
  Environment environment;
  std::vector<Judged> runs;          // At least one.
  std::vector<std::string> samples;  // Of each run, beside the record; may be empty.
  std::string created;
};

// Mean over runs and Student's interval of a figure, such as "ttft_ms.median".
struct RunsInterval {
  std::string figure;
  double mean = 0, low = 0, high = 0;
};
// Of every figure that all runs have; none below kFewestRunsOfInterval runs.
std::vector<RunsInterval> runs_intervals(std::span<const Judged> runs);

// Members of a single run stand at the top. Several are in `runs`, their intervals in `intervals`,
// and at the top are sums of counts and means of figures.
Json record_json(const LoadRecord& record);

}  // namespace assay::load
