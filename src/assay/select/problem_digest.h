#pragma once

// By what a table looks problems up that Problem::digest() does not find: two signatures may mean
// the same data. Nothing here allocates but kind_of().

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "assay/base/hash.h"
#include "assay/op/problem.h"

namespace assay {

// What problems that differ in sizes, strides and alignments alone share: the operation, the names
// of its dimensions, the operands with their types, access, lifetimes and major order (t where the
// last dimension is contiguous or has one element, n where the one before is, else s), and the
// attributes but for the layout, which is the letters over again.
std::string kind_of(const Problem& problem);

// The dimensions, then of each operand its sizes and its strides. A dimension of one element has
// stride 0 here: what stands there moves nothing.
struct Measures {
  static constexpr size_t kMost = 128;
  std::array<int64_t, kMost> values;
  size_t count = 0;
  std::span<const int64_t> span() const { return std::span(values).first(count); }
};
Measures measures_of(const Problem& problem);

// Byte i: log2 of the alignment that operand i is promised. Of more than eight operands the last
// byte is the least of the rest.
uint64_t alignments_of(const Problem& problem);

// True where every operand lies at least as aligned as the other problem's.
inline bool aligned_as(uint64_t alignments, uint64_t as) {
  for (; as != 0; as >>= 8, alignments >>= 8)
    if ((alignments & 0xff) < (as & 0xff)) return false;
  return true;
}

struct ProblemDigest {
  uint64_t kind = 0;   // Of kind_of().
  FastDigest whole{};  // Of kind and measures.
  uint64_t alignments = 0;

  bool operator==(const ProblemDigest&) const = default;
};
ProblemDigest digest_of(const Problem& problem);

uint64_t kind_digest(std::string_view kind);
FastDigest whole_digest(std::string_view kind, std::span<const int64_t> measures);

}  // namespace assay
