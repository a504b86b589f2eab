#pragma once

// Memory of this process in which a kernel may keep copies of operands. Where operand sets are so
// few that they are flushed to be cold, copies of all of them would stay in a cache, and whoever
// reads those would never be cold. So what does not change between two bursts is flushed as well.

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_set>
#include <vector>

#include "assay/base/keyed_random.h"
#include "assay/process/memory_map.h"
#include "assay/worker/code_copies.h"

namespace assay::sweep {

class KeptCopies {
 public:
  using Bytes = std::span<const std::byte>;

  // What is mapped now is no kernel's. `code`, which outlives this, is no copy of operands.
  explicit KeptCopies(CodeCopies& code);

  // Flushes pages that hold what some page held at the last call, wherever that one lay: scratch
  // memory is written anew in each burst, copies are not. Two lines of each page are looked at,
  // which were drawn at the call before. Memory files that are not mapped are flushed whole.
  // Nothing where the process has not taken `least` bytes since this was made, beside those of
  // `others`, which are ours. Returns how many bytes were flushed.
  size_t cool(std::span<const Bytes> others, size_t least);

 private:
  struct Range {
    uintptr_t begin = 0, end = 0;
  };
  using Lines = std::array<size_t, 2>;  // Of a page.

  bool holds(std::span<const Bytes> others, size_t least);
  // Resident bytes of private views of memory files: nobody counts them as this process's memory.
  int64_t in_views() const;
  Lines draw();
  size_t cool_pages(const OwnMapping& mapping, const Range& range);
  static std::vector<Range> without(const Range& range, std::span<const Range> others);

  CodeCopies& code_;
  KeyedRandom random_;
  std::vector<Range> before_;
  int64_t held_before_ = 0, resident_before_ = 0;
  bool holds_ = false;  // As much as that, since somebody looked.
  Lines lines_{}, next_lines_{};
  std::unordered_set<uint64_t> known_, next_known_;  // Hashes of such lines.
};

}  // namespace assay::sweep
