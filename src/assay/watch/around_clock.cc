#include "assay/watch/around_clock.h"

#include <algorithm>

#include <fmt/format.h>

#include "assay/stats/robust.h"

namespace assay::sweep {
namespace {

constexpr size_t kLeast = 12;  // Bursts, for a middle that a few disturbances do not move.
constexpr size_t kEach = 4;    // It is looked at again after so many.

}  // namespace

// What is allowed: `times` what it takes others, or `others_at_least`, and `share` of a burst, and
// `slack`. What is more than that by `convicting` again convicts by itself.
struct AroundClock::Kind {
  std::vector<double> Seen::*taken;
  double times, others_at_least_ns, share, slack_ns, convicting_ns;
  const char* what;
};

void AroundClock::add(size_t kernel, bool of_user, int launches, const BurstMoments& moments,
                      int64_t burst_ns) {
  Seen& seen = seen_[{kernel, launches}];
  seen.of_user = of_user;
  const auto stretches = static_cast<double>(moments.stretches.size());
  seen.burst.push_back(static_cast<double>(burst_ns) / stretches);
  if (const int64_t ns = moments.thread_ns(); ns >= 0)
    seen.work.push_back(static_cast<double>(ns - burst_ns) / stretches);
  if (const int64_t ns = moments.behind_ns(); ns > 0)
    seen.behind.push_back(static_cast<double>(ns));
}

// The most of them; of bursts of as many launches, if there are such. Of others it is as much more
// as they have fewer.
double AroundClock::of_others(const Key& key, const Kind& kind) const {
  double alike_ns = 0, others_ns = 0;
  for (const auto& [other, seen] : seen_) {
    const std::vector<double>& taken = seen.*kind.taken;
    if (seen.of_user || taken.size() < kLeast) continue;
    const double middle_ns = stats::median(taken);
    const double more = static_cast<double>(key.second) / static_cast<double>(other.second);
    others_ns = std::max(others_ns, middle_ns * std::max(1.0, more));
    if (other.second == key.second) alike_ns = std::max(alike_ns, middle_ns);
  }
  return alike_ns > 0 ? alike_ns : others_ns;
}

std::optional<AroundClock::Excess> AroundClock::excess(const Key& key, const Seen& own,
                                                       const Kind& kind) const {
  const std::vector<double>& taken = own.*kind.taken;
  if (taken.size() < kLeast || taken.size() % kEach != 0) return std::nullopt;
  const double others_ns = of_others(key, kind);
  if (others_ns <= 0) return std::nullopt;
  const double own_ns = stats::median(taken);
  const double allowed_ns = kind.times * std::max(others_ns, kind.others_at_least_ns) +
                            kind.share * stats::median(own.burst) + kind.slack_ns;
  if (own_ns <= allowed_ns) return std::nullopt;
  return Excess{fmt::format("{} {:.1f} us, where it took kernels of others {:.1f}", kind.what,
                            own_ns * 1e-3, others_ns * 1e-3),
                own_ns > allowed_ns + kind.convicting_ns};
}

std::optional<AroundClock::Excess> AroundClock::excess(size_t kernel) {
  // In most processes the middle of a kernel's work lies within 3 us of stock kernels' work, and in
  // one of fifty 10 us above it (measured). Of wall time behind the clock some processes take 5 us,
  // and others 15 to 26, by whether the core has whoever hears of it on it, too. Ahead of the clock
  // wall time tells nothing: a thread that waited for an answer may be woken when a core is free.
  static const Kind kinds[] = {
      {&Seen::work, 1.05, 0, 0.02, 6e3, 40e3,
       "beside its launches the thread that launches it worked for"},
      {&Seen::behind, 2, 20e3, 0.02, 2e3, 0,
       "from the stop of its clock until its outputs were looked at it took"}};
  std::optional<Excess> found;
  for (auto seen = seen_.lower_bound({kernel, 0}); seen != seen_.end(); ++seen) {
    if (seen->first.first != kernel) break;
    if (!seen->second.of_user) continue;
    for (const Kind& kind : kinds) {
      auto excess = this->excess(seen->first, seen->second, kind);
      if (excess && (!found || excess->convicts)) found = std::move(excess);
    }
  }
  if (!found || found->convicts || told_.insert(kernel).second) return found;
  return std::nullopt;
}

}  // namespace assay::sweep
