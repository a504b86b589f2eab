#include "assay/sweep/stages/station.h"

#include <algorithm>
#include <tuple>

#include "assay/sweep/venue_rules.h"

namespace assay::sweep {

std::string Station::home_of(const Candidate& candidate) const {
  const auto& [provider, family] = std::tie(candidate.outcome.provider, candidate.family);
  const bool apart = taints_process(candidate) ||
                     std::ranges::find(request.pool.apart, provider) != request.pool.apart.end();
  return apart && rules_of(request.venue).times_users_apart ? provider + '/' + family
                                                            : std::string();
}

double Station::process_bytes(size_t kernels) const {
  // As operands are rotated (worker/cpu/problem.cc, worker/gpu/problem.cc), and as often as they
  // are packed.
  constexpr double kSets = 4, kCaches = 3, kMostRotated = 0x1.8p28;
  constexpr double kContext = 0x1p29, kProcess = 0x1p26;
  double operands = 0;
  for (const Operand& operand : problem.operands())
    operands += static_cast<double>(operand.span_bytes);
  const bool on_gpu = request.venue.is_gpu();
  const double caches = kCaches * static_cast<double>(crew.facts().last_level_cache_bytes);
  const double rotated =
      std::max(kSets * operands, on_gpu ? caches : std::min(caches, kMostRotated));
  return (on_gpu ? kContext : kProcess) + (1 + static_cast<double>(kernels)) * rotated;
}

size_t Station::guests_at_once() const {
  const double room = static_cast<double>(crew.facts().memory_bytes) / 2 / process_bytes(1);
  return room < 1 ? 1 : static_cast<size_t>(std::min(room, 1e3));
}

}  // namespace assay::sweep
