#pragma once

// What a process that runs candidates tells of each stretch of launches while it happens: ahead of
// the clock which launches there will be, and behind it what lay in their outputs. Nothing that a
// kernel does later can change either.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <vector>

#include "assay/base/random.h"

namespace assay::sweep {

// A launch of an open kernel: which of its plans it takes, and the seed of the operands that vary.
struct ToldLaunch {
  uint64_t plan = 0;
  uint64_t seed = 0;
};
// The seed of a stretch's launch, by its place among those told, from the number that was answered
// when the process asked for it. Nobody there knew it before.
inline uint64_t seed_of_launch(uint64_t answer, size_t place) {
  return CounterRandom{answer, 1}.bits(place) | 1;
}
// In place of its seed, of the launch that leads in: the first one told of a burst.
inline constexpr uint64_t kUntimed = 0;

// By measure::OutputDigest, of the parts that `drawn` draws of the stretch's outputs in the order
// that launches were told.
struct ToldDigest {
  uint64_t drawn = 0;
  uint64_t digest = 0;
};

template <class T>
std::span<const std::byte> as_told(const std::vector<T>& told) {
  return std::as_bytes(std::span(told));
}
inline std::span<const std::byte> as_told(const ToldDigest& told) {
  return std::as_bytes(std::span(&told, 1));
}

// None where the bytes are not a whole number of them.
template <class T>
std::optional<std::vector<T>> read_told(std::span<const std::byte> bytes) {
  if (bytes.size() % sizeof(T) != 0) return std::nullopt;
  std::vector<T> told(bytes.size() / sizeof(T));
  if (!told.empty()) std::memcpy(told.data(), bytes.data(), bytes.size());
  return told;
}

}  // namespace assay::sweep
