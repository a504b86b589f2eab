#pragma once

// Exact look-ups of a tuned table: by a digest to the choice that was made for a problem.

#include <cstdint>
#include <vector>

#include "assay/select/problem_digest.h"

namespace assay {

class LookUp {
 public:
  struct Answer {
    uint64_t alignments = 0;  // Of the tuned problem.
    double tuned_us = 0;
    uint32_t problem = 0, kernel = 0, rank = 0;
  };

  LookUp() = default;
  explicit LookUp(size_t count);  // How many add() will bring, at most.
  void add(const Digest& digest, const Answer& answer);

  // Null where there is none. Touches two places of memory, most of the time.
  const Answer* find(const Digest& digest) const {
    if (tags_.empty()) return nullptr;
    for (size_t at = digest[0] & mask_;; at = (at + 1) & mask_) {
      if (tags_[at] == 0) return nullptr;
      if (tags_[at] == tag_of(digest) && slots_[at].rest == digest[1]) return &slots_[at].answer;
    }
  }

 private:
  static uint64_t tag_of(const Digest& digest) { return digest[0] | 1; }

  struct Slot {
    uint64_t rest = 0;
    Answer answer;
  };
  size_t mask_ = 0;
  std::vector<uint64_t> tags_;  // 0: free. At most half of them are taken.
  std::vector<Slot> slots_;
};

}  // namespace assay
