#pragma once

// Buffers that tell when a kernel wrote where it must not: red zones on both sides, and poison
// where it must write.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "assay/base/result.h"
#include "assay/device/device.h"

namespace assay::verify {

// Random bits from a seed: no value that a kernel would leave by chance.
void poison(std::span<std::byte> bytes, uint64_t seed);

// How many of the bytes still hold that poison where it was written.
size_t still_poisoned(std::span<const std::byte> bytes, uint64_t seed);

// Several buffers in one allocation, a red zone before and after each. Where in its page a buffer
// lies moves a CPU kernel's time by 1 % (measured), so each lies at its own random multiple of 64
// bytes: placing anew is allocating anew with another seed.
class GuardedArena {
 public:
  static constexpr size_t kZoneBytes = 4096;

  static Result<GuardedArena> allocate(Device& device, std::span<const size_t> sizes,
                                       uint64_t seed);

  size_t count() const { return buffers_.size(); }
  std::span<std::byte> at(size_t index) const { return buffers_[index]; }

  // Where a zone was written: the buffer, and the byte relative to its start (negative: before it).
  struct Trespass {
    size_t index = 0;
    int64_t byte = 0;
    size_t changed = 0;  // Bytes of both its zones.
  };
  // Nothing: every zone is as it was. Repairs what it reports, so that it is reported once.
  std::optional<Trespass> find_trespass();

 private:
  std::unique_ptr<Buffer> memory_;
  std::vector<std::span<std::byte>> buffers_;
  uint64_t seed_ = 0;
};

}  // namespace assay::verify
