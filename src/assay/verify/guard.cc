#include "assay/verify/guard.h"

#include <algorithm>
#include <cstring>

namespace assay::verify {
namespace {

// SplitMix64 (Steele, Lea, Flood 2014): cheap, and no two words alike.
uint64_t word(uint64_t seed, uint64_t index) {
  uint64_t z = seed + (index + 1) * 0x9e3779b97f4a7c15ull;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
  return z ^ (z >> 31);
}

std::byte pattern_byte(uint64_t seed, size_t index) {
  return static_cast<std::byte>(word(seed, index / 8) >> (8 * (index % 8)));
}

}  // namespace

void poison(std::span<std::byte> bytes, uint64_t seed) {
  size_t i = 0;
  for (; i + 8 <= bytes.size(); i += 8) {
    const uint64_t value = word(seed, i / 8);
    std::memcpy(bytes.data() + i, &value, 8);
  }
  for (; i < bytes.size(); ++i) bytes[i] = pattern_byte(seed, i);
}

size_t still_poisoned(std::span<const std::byte> bytes, uint64_t seed) {
  size_t same = 0;
  for (size_t i = 0; i + 8 <= bytes.size(); i += 8) {
    const uint64_t value = word(seed, i / 8);
    if (std::memcmp(bytes.data() + i, &value, 8) == 0) same += 8;
  }
  for (size_t i = bytes.size() / 8 * 8; i < bytes.size(); ++i)
    if (bytes[i] == pattern_byte(seed, i)) ++same;
  return same;
}

Result<GuardedArena> GuardedArena::allocate(Device& device, std::span<const size_t> sizes,
                                            uint64_t seed) {
  GuardedArena arena;
  arena.seed_ = seed;
  std::vector<size_t> starts;
  size_t end = 0;
  for (size_t i = 0; i < sizes.size(); ++i) {
    const size_t offset = word(seed, i) % 64 * 64;
    const size_t start = (end + 2 * kZoneBytes + 4095) / 4096 * 4096 + offset;
    starts.push_back(start);
    end = start + sizes[i];
  }
  BufferOptions options;
  // A huge page for a few kilobytes costs more to clear than the kernel takes to run.
  options.huge_pages = end >= size_t{1} << 20;
  options.alignment = options.huge_pages ? size_t{2} << 20 : 4096;
  ASSAY_TRY(arena.memory_, device.allocate(end + kZoneBytes, options));
  auto* base = static_cast<std::byte*>(arena.memory_->data());
  for (size_t i = 0; i < sizes.size(); ++i) {
    arena.buffers_.push_back({base + starts[i], sizes[i]});
    poison({base + starts[i] - kZoneBytes, kZoneBytes}, seed + 2 * i);
    poison({base + starts[i] + sizes[i], kZoneBytes}, seed + 2 * i + 1);
  }
  return arena;
}

std::optional<GuardedArena::Trespass> GuardedArena::find_trespass() {
  std::optional<Trespass> found;
  for (size_t i = 0; i < buffers_.size(); ++i) {
    const std::span<std::byte> before(buffers_[i].data() - kZoneBytes, kZoneBytes);
    const std::span<std::byte> after(buffers_[i].data() + buffers_[i].size(), kZoneBytes);
    const uint64_t before_seed = seed_ + 2 * i, after_seed = before_seed + 1;
    if (still_poisoned(before, before_seed) == kZoneBytes &&
        still_poisoned(after, after_seed) == kZoneBytes)
      continue;
    Trespass trespass{i, 0, 0};
    for (size_t b = 0; b < kZoneBytes; ++b) {
      if (before[b] != pattern_byte(before_seed, b)) {
        ++trespass.changed;
        trespass.byte = static_cast<int64_t>(b) - static_cast<int64_t>(kZoneBytes);
      }
    }
    for (size_t b = 0; b < kZoneBytes; ++b) {
      if (after[b] == pattern_byte(after_seed, b)) continue;
      if (trespass.changed++ == 0) trespass.byte = static_cast<int64_t>(buffers_[i].size() + b);
    }
    poison(before, before_seed);
    poison(after, after_seed);
    if (!found) found = trespass;
  }
  return found;
}

}  // namespace assay::verify
