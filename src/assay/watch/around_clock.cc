#include "assay/watch/around_clock.h"

#include <algorithm>

#include <fmt/format.h>

#include "assay/stats/robust.h"

namespace assay::sweep {
namespace {

constexpr size_t kLeast = 12;  // Bursts, for a middle that a few disturbances do not move.
constexpr size_t kEach = 4;    // It is looked at again after so many.

// A core may have two speeds, by what its neighbour does, and keep each for some rounds: on a Xeon
// of two cores the same work took 65 or 100 us, so that the middle of two dozen bursts lies at
// either. A kernel's middle is therefore held against what others take while the core is slow.
using stats::upper_quartile;

// Of wall time some processes take 5 us, and others 15 to 26, by whether the core has whoever hears
// of it on it, too: twice what others take is no work yet, nor are 40 us more.
constexpr double kUsualNs = 20e3, kConvictingNs = 40e3;

double allowed_ns(double others_ns, double burst_ns) {
  return 2 * std::max(others_ns, kUsualNs) + 0.02 * burst_ns + kConvictingNs;
}

}  // namespace

void AroundClock::add(size_t kernel, bool of_user, int launches, const BurstMoments& moments,
                      int64_t burst_ns) {
  Seen& seen = seen_[{kernel, launches}];
  seen.of_user = of_user;
  const auto stretches = static_cast<double>(moments.stretches.size());
  seen.burst.push_back(static_cast<double>(burst_ns) / stretches);
  if (const int64_t ns = moments.behind_ns(); ns > 0)
    seen.behind.push_back(static_cast<double>(ns));
}

// The most of their upper quartiles; of bursts of as many launches, if there are such. Of others it
// is as much more as they have fewer.
double AroundClock::of_others(const Key& key) const {
  double alike_ns = 0, others_ns = 0;
  for (const auto& [other, seen] : seen_) {
    if (seen.of_user || seen.behind.size() < kLeast) continue;
    const double most_ns = upper_quartile(seen.behind);
    const double more = static_cast<double>(key.second) / static_cast<double>(other.second);
    others_ns = std::max(others_ns, most_ns * std::max(1.0, more));
    if (other.second == key.second) alike_ns = std::max(alike_ns, most_ns);
  }
  return alike_ns > 0 ? alike_ns : others_ns;
}

std::optional<std::string> AroundClock::excess(const Key& key, const Seen& own) const {
  if (own.behind.size() < kLeast || own.behind.size() % kEach != 0) return std::nullopt;
  const double others_ns = of_others(key);
  if (others_ns <= 0) return std::nullopt;
  const double own_ns = stats::median(own.behind);
  if (own_ns <= allowed_ns(others_ns, stats::median(own.burst))) return std::nullopt;
  return fmt::format(
      "from the stop of its clock until its outputs were looked at it took {:.1f} us, where it "
      "took kernels of others {:.1f}",
      own_ns * 1e-3, others_ns * 1e-3);
}

std::optional<std::string> AroundClock::excess(size_t kernel) {
  for (auto seen = seen_.lower_bound({kernel, 0}); seen != seen_.end(); ++seen) {
    if (seen->first.first != kernel) break;
    if (!seen->second.of_user) continue;
    if (auto found = excess(seen->first, seen->second)) return found;
  }
  return std::nullopt;
}

}  // namespace assay::sweep
