#include "assay/timing/approaches.h"

#include <algorithm>
#include <vector>

namespace assay::sweep {
namespace {

constexpr size_t kKept = 15;
// Behind half a millisecond no launch was slower, behind 8 ms none was slower than behind 2 by more
// than a twentieth (results/emerald_rapids/same).
constexpr int64_t kLeastNs = 300'000, kMostNs = 20'000'000;

}  // namespace

void Approaches::add(size_t kernel, int64_t told_ns, double seen_ns) {
  auto& last = last_[kernel];
  last.push_back(std::min(told_ns, static_cast<int64_t>(seen_ns)));
  if (last.size() > kKept) last.pop_front();
}

int64_t Approaches::least_ns() const {
  int64_t longest = 0;
  for (const auto& [kernel, last] : last_) {
    std::vector<int64_t> sorted(last.begin(), last.end());
    const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2);
    std::ranges::nth_element(sorted, middle);
    longest = std::max(longest, *middle);
  }
  return longest < kLeastNs ? 0 : std::min(longest, kMostNs);
}

}  // namespace assay::sweep
