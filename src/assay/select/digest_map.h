#pragma once

// Exact look-ups of a tuned table: by a digest to the choice that was made for a problem.

#include <cstdint>
#include <vector>

#include "assay/base/hash.h"

namespace assay {

class DigestMap {
 public:
  struct Answer {
    float tuned_us = 0;
    uint32_t problem = 0;
    uint16_t kernel = 0;
    uint16_t rank = 0;
  };

  DigestMap() = default;
  explicit DigestMap(size_t count);  // How many add() will bring, at most.
  void add(const FastDigest& digest, const Answer& answer);

  // Null where there is none. Touches one place of memory, most of the time.
  const Answer* find(const FastDigest& digest) const {
    if (slots_.empty()) return nullptr;
    for (size_t at = digest[0] & mask_;; at = (at + 1) & mask_) {
      const Slot& slot = slots_[at];
      if (!slot.taken) return nullptr;
      if (slot.digest == digest) return &slot.answer;
    }
  }

 private:
  struct alignas(32) Slot {  // Two to a line of cache.
    FastDigest digest{};
    Answer answer;
    bool taken = false;
  };
  size_t mask_ = 0;
  std::vector<Slot> slots_;  // At most two thirds of them are taken.
};

}  // namespace assay
