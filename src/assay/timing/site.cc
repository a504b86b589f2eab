#include "assay/timing/site.h"

#include <algorithm>
#include <tuple>

namespace assay::sweep {

std::string Site::home_of(const Candidate& candidate) const {
  const auto& [provider, family] = std::tie(candidate.outcome.provider, candidate.family);
  const bool own = taints_process(candidate) || std::ranges::find(apart, provider) != apart.end();
  return own && users_apart ? provider + '/' + family : std::string();
}

double Site::process_bytes(size_t kernels) const {
  // As operands are rotated (worker/cpu/problem.cc, worker/gpu/problem.cc), and as often as they
  // are packed.
  constexpr double kSets = 4, kCaches = 3, kMostRotated = 0x1.8p28;
  constexpr double kContext = 0x1p29, kProcess = 0x1p26;
  double operands = 0;
  for (const Operand& operand : problem.operands())
    operands += static_cast<double>(operand.span_bytes);
  const bool on_gpu = venue.is_gpu();
  const double caches = kCaches * static_cast<double>(processes.facts().last_level_cache_bytes);
  const double rotated =
      std::max(kSets * operands, on_gpu ? caches : std::min(caches, kMostRotated));
  return (on_gpu ? kContext : kProcess) + (1 + static_cast<double>(kernels)) * rotated;
}

size_t Site::guests_at_once() const {
  const double room = static_cast<double>(processes.facts().memory_bytes) / 2 / process_bytes(1);
  return room < 1 ? 1 : static_cast<size_t>(std::min(room, 1e3));
}

}  // namespace assay::sweep
