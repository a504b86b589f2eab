#include "cli/load/load_axis.h"

namespace assay::cli {

void LoadAxis::declare(Flags& app) {
  app.add_option("--over", over_, "Which load: streams, or requests per second")
      .one_of({"concurrency", "rate"})
      .show_default();
}

load::LoadPlan LoadAxis::at(load::LoadPlan plan, double load) const {
  if (is_whole()) {
    plan.arrivals.reset();
    plan.concurrency = static_cast<int>(load);
    return plan;
  }
  load::ArrivalPlan arrivals = plan.arrivals.value_or(load::ArrivalPlan{});
  arrivals.rate = load;
  plan.arrivals = arrivals;
  return plan;
}

}  // namespace assay::cli
