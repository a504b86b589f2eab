#include "assay/sweep/card_arena.h"

#include <fmt/format.h>

#include "assay/base/random.h"
#include "assay/device/cuda/shared_memory.h"
#include "assay/verify/guard.h"

namespace assay::sweep {

Result<CardArena> CardArena::allocate(cuda::CudaDevice& device, std::span<const size_t> sizes,
                                      uint64_t seed) {
  constexpr size_t kStep = 256;  // What a device allocation is aligned to.
  CardArena arena;
  arena.device_ = &device;
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
  ASSAY_TRY(arena.memory_, device.allocate(pages * cuda::kSharedPage, {.alignment = kStep}));
  auto* base = static_cast<std::byte*>(arena.memory_->data());
  std::vector<std::byte> zone(kZoneBytes);
  for (size_t i = 0; i < sizes.size(); ++i) {
    arena.pieces_.push_back({base + starts[i], sizes[i]});
    verify::poison(zone, seed + 2 * i);
    ASSAY_TRY(device.copy_in(base + starts[i] - kZoneBytes, zone));
    verify::poison(zone, seed + 2 * i + 1);
    ASSAY_TRY(device.copy_in(base + starts[i] + sizes[i], zone));
  }
  return arena;
}

Result<std::string> CardArena::find_trespass(const std::function<std::string(size_t index)>& what) {
  std::string found;
  std::vector<std::byte> zone(kZoneBytes);
  for (size_t i = 0; i < pieces_.size(); ++i) {
    for (int side = 0; side < 2; ++side) {
      auto* at = static_cast<std::byte*>(pieces_[i].data);
      at = side == 0 ? at - kZoneBytes : at + pieces_[i].bytes;
      const uint64_t seed = seed_ + 2 * i + static_cast<uint64_t>(side);
      ASSAY_TRY(device_->copy_out(zone, at));
      const size_t same = verify::still_poisoned(zone, seed);
      if (same == kZoneBytes) continue;
      if (found.empty())
        found = fmt::format("about {} bytes written {} {}", kZoneBytes - same,
                            side == 0 ? "before" : "behind", what(i));
      verify::poison(zone, seed);
      ASSAY_TRY(device_->copy_in(at, zone));
    }
  }
  return found;
}

}  // namespace assay::sweep
