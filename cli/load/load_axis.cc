#include "cli/load/load_axis.h"

#include <algorithm>
#include <cmath>

namespace assay::cli {
namespace {

// Fewer requests would never be that load: no more streams run than there are requests.
constexpr double kRequestsAStream = 4, kLeastSeconds = 2;

std::int64_t at_least(std::int64_t requests, double least) {
  return requests == 0 ? 0 : std::max(requests, static_cast<std::int64_t>(std::ceil(least)));
}

}  // namespace

void LoadAxis::declare(Flags& app) {
  app.add_option("--over", over_, "Which load: streams, or requests per second")
      .one_of({"concurrency", "rate"})
      .show_default();
}

load::LoadPlan LoadAxis::at(load::LoadPlan plan, double load) const {
  if (is_whole()) {
    plan.arrivals.reset();
    plan.concurrency = static_cast<int>(load);
    plan.requests = at_least(plan.requests, kRequestsAStream * load);
    return plan;
  }
  load::ArrivalPlan arrivals = plan.arrivals.value_or(load::ArrivalPlan{});
  arrivals.rate = load;
  plan.arrivals = arrivals;
  plan.requests = at_least(plan.requests, kLeastSeconds * load);
  return plan;
}

}  // namespace assay::cli
