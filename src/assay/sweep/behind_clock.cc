#include "assay/sweep/behind_clock.h"

#include <algorithm>

#include <fmt/format.h>

#include "assay/stats/robust.h"

namespace assay::sweep {
namespace {

constexpr size_t kLeast = 12;  // Bursts, for a middle that a few disturbances do not move.
constexpr size_t kEach = 4;    // It is looked at again after so many.
constexpr double kTimes = 2, kShareOfBurst = 0.02, kSlackNs = 2e3;
// Of the same race some processes take 5 us there, and others 15 to 26, by whether the core has
// whoever hears of it on it, too.
constexpr double kOthersAtLeastNs = 20e3;

}  // namespace

void BehindClock::add(size_t kernel, bool of_user, double burst_ns, double behind_ns) {
  Seen& seen = seen_[kernel];
  seen.of_user = of_user;
  seen.burst_ns.push_back(burst_ns);
  seen.behind_ns.push_back(behind_ns);
}

std::string BehindClock::excess(size_t kernel) const {
  const auto found = seen_.find(kernel);
  if (found == seen_.end() || !found->second.of_user) return {};
  const Seen& own = found->second;
  if (own.behind_ns.size() < kLeast || own.behind_ns.size() % kEach != 0) return {};
  double others_ns = 0;
  for (const auto& [_, seen] : seen_)
    if (!seen.of_user && seen.behind_ns.size() >= kLeast)
      others_ns = std::max(others_ns, stats::median(seen.behind_ns));
  if (others_ns <= 0) return {};
  const double behind_ns = stats::median(own.behind_ns);
  const double allowed_ns = kTimes * std::max(others_ns, kOthersAtLeastNs) +
                            kShareOfBurst * stats::median(own.burst_ns) + kSlackNs;
  if (behind_ns <= allowed_ns) return {};
  return fmt::format(
      "from the stop of its clock until its outputs were looked at {:.1f} us passed, where it took "
      "kernels of others {:.1f}",
      behind_ns * 1e-3, others_ns * 1e-3);
}

}  // namespace assay::sweep
