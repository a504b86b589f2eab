#include "assay/worker/gpu/arena.h"

#include <fmt/format.h>

#include "assay/base/random.h"
#include "assay/device/cuda/shared_memory.h"

namespace assay::sweep {

Result<GpuArena> GpuArena::allocate(GpuZones& zones, std::span<const size_t> sizes, uint64_t seed) {
  constexpr size_t kStep = 256;  // What a device allocation is aligned to.
  constexpr size_t kZoneBytes = GpuZones::kZoneBytes;
  GpuArena arena;
  arena.zones_ = &zones;
  arena.seed_ = seed;
  const CounterRandom random{seed, 11};
  std::vector<size_t> starts;
  size_t end = 0;
  for (size_t i = 0; i < sizes.size(); ++i) {
    const size_t offset = random.below(i, 16) * kStep;
    starts.push_back((end + 2 * kZoneBytes + kStep - 1) / kStep * kStep + offset);
    end = starts.back() + sizes[i];
  }
  // Whole pages, since a part of it may be shared: nothing else of this process lies in them.
  const size_t pages = (end + kZoneBytes + cuda::kSharedPage - 1) / cuda::kSharedPage;
  // The driver's own alignment: what is added for another would reach into one page more.
  ASSAY_TRY(arena.memory_,
            zones.device().allocate(pages * cuda::kSharedPage, {.alignment = kStep}));
  auto* base = static_cast<std::byte*>(arena.memory_->data());
  for (size_t i = 0; i < sizes.size(); ++i) {
    arena.pieces_.push_back({base + starts[i], sizes[i]});
    arena.starts_.push_back(base + starts[i] - kZoneBytes);
    arena.starts_.push_back(base + starts[i] + sizes[i]);
  }
  ASSAY_TRY(zones.mark(arena.starts_, seed));
  return arena;
}

Result<std::string> GpuArena::find_trespass(const std::function<std::string(size_t index)>& what) {
  ASSAY_TRY(const auto changed, zones_->changed(starts_, seed_));
  for (size_t zone = 0; zone < changed.size(); ++zone) {
    if (changed[zone] == 0) continue;
    ASSAY_TRY(zones_->mark(starts_, seed_));
    return fmt::format("about {} bytes written {} {}", changed[zone],
                       zone % 2 == 0 ? "before" : "behind", what(zone / 2));
  }
  return std::string();
}

}  // namespace assay::sweep
