#include "assay/worker/recent_launches.h"

namespace assay::sweep {
namespace {

// More than outputs and the launches of a burst are.
constexpr size_t kKept = 1024;

}  // namespace

void RecentLaunches::add(Launch launch) {
  if (launches_.size() >= 2 * kKept) launches_.erase(launches_.begin(), launches_.end() - kKept);
  launches_.push_back(launch);
}

RecentLaunches::Launch RecentLaunches::surviving(size_t outputs, uint64_t choice) const {
  std::vector<Launch> surviving;
  std::vector<bool> taken(outputs, false);
  for (auto launch = launches_.rbegin(); launch != launches_.rend(); ++launch) {
    const size_t output = launch->set % outputs;
    if (taken[output]) continue;
    taken[output] = true;
    surviving.push_back(*launch);
  }
  return surviving[choice % surviving.size()];
}

}  // namespace assay::sweep
