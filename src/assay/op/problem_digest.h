#pragma once

// What tables look problems up by: made with the problem, so that a look-up makes nothing.

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace assay {

class Problem;

struct ProblemDigest {
  uint64_t kind = 0;                // Of kind_of().
  std::array<uint64_t, 2> whole{};  // Of kind and measures. Not against adversaries.
  uint64_t alignments = 0;          // See alignments_of().

  bool operator==(const ProblemDigest&) const = default;
};

// What problems that differ in sizes, strides and alignments alone share: the operation, the names
// of its dimensions, the operands with their types, access, lifetimes and major order (t where the
// last dimension is contiguous or has one element, n where the one before is, else s), and the
// attributes but for the layout, which is the letters over again.
std::string kind_of(const Problem& problem);

// The dimensions, then of each operand its sizes and its strides. A dimension of one element has
// stride 0 here: what stands there moves nothing.
std::vector<int64_t> measures_of(const Problem& problem);

// Byte i: log2 of the alignment that operand i is promised. Of more than eight operands the last
// byte is the least of the rest.
uint64_t alignments_of(const Problem& problem);

uint64_t kind_digest(std::string_view kind);
std::array<uint64_t, 2> whole_digest(std::string_view kind, std::span<const int64_t> measures);
ProblemDigest digest_of(const Problem& problem);

// True where every operand lies at least as aligned as the other problem's.
inline bool aligned_as(uint64_t alignments, uint64_t as) {
  for (; as != 0; as >>= 8, alignments >>= 8)
    if ((alignments & 0xff) < (as & 0xff)) return false;
  return true;
}

}  // namespace assay
