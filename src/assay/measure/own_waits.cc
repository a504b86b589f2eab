#include "assay/measure/own_waits.h"

#include <algorithm>
#include <cstddef>

namespace assay::measure {
namespace {

constexpr std::size_t kKept = 31, kLeast = 5;
// Of one launch. Whoever has the core for his own work has it for longer.
constexpr int64_t kMostNs = 20'000;

}  // namespace

void OwnWaits::add(int64_t waited_ns, int launches) {
  const int64_t of_launch_ns = waited_ns / std::max(1, launches);
  if (of_launch_ns_.size() < kKept)
    of_launch_ns_.push_back(of_launch_ns);
  else
    of_launch_ns_[next_++ % kKept] = of_launch_ns;
}

int64_t OwnWaits::usual_ns(int launches) const {
  if (of_launch_ns_.size() < kLeast) return 0;
  std::vector<int64_t> sorted = of_launch_ns_;
  const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2);
  std::ranges::nth_element(sorted, middle);
  return std::min(*middle, kMostNs) * launches;
}

}  // namespace assay::measure
