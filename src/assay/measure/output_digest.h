#pragma once

// What lay in the outputs of a stretch of launches when its clock stopped. A kernel that leaves
// work for later (to a thread that sleeps, a timer's signal, whoever reads its output first) is
// right by the time that somebody looks: the digest is taken before it can be, and then differs.

#include <cstddef>
#include <cstdint>
#include <span>

#include "assay/base/hash.h"

namespace assay::measure {

// As much is looked at as is read within some ten microseconds behind the clock.
inline constexpr size_t kMostDigestBytes = size_t{1} << 16;

// A part of one of the outputs.
struct OutputPart {
  size_t output = 0, offset = 0, bytes = 0;
};

// Calls visit(part) for what a number draws of `outputs` outputs of so many bytes each: outputs in
// turn from any one on, as many as fit; of one that does not fit alone, a part at any place.
template <class Visit>
void for_each_part(uint64_t drawn, size_t outputs, size_t bytes, Visit&& visit) {
  size_t left = kMostDigestBytes;
  for (size_t i = 0; i < outputs; ++i) {
    OutputPart part{(static_cast<size_t>(drawn >> 32) + i) % outputs, 0, bytes};
    if (i == 0 && bytes > left) {
      part.offset = (drawn & 0xffffffff) * (bytes - left + 1) >> 32;
      part.bytes = left;
    }
    if (part.bytes > left) break;
    left -= part.bytes;
    visit(part);
  }
}

// One that goes on over several parts. Keyed by the draw: equal digests are equal bytes for whoever
// did not know it.
class OutputDigest {
 public:
  explicit OutputDigest(uint64_t drawn) : digest_(drawn) {}
  void add(std::span<const std::byte> part) { digest_ = fast_hash(part, digest_); }
  uint64_t value() const { return digest_; }

 private:
  uint64_t digest_;
};

// A number that nobody can have known before this call.
uint64_t draw_unknown();

}  // namespace assay::measure
