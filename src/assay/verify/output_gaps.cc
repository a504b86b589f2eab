#include "assay/verify/output_gaps.h"

#include <fmt/format.h>

#include "assay/verify/guard.h"

namespace assay::verify {
namespace {

// By element of the span: whether it is one of the operand's.
std::vector<bool> covered(const Operand& operand) {
  const auto size = static_cast<size_t>(size_bytes(operand.dtype));
  std::vector<bool> own(static_cast<size_t>(operand.span_bytes) / size);
  std::vector<int64_t> index(operand.sizes.size());
  for (int64_t at = 0;;) {
    own[static_cast<size_t>(at)] = true;
    size_t d = index.size();
    while (d-- > 0) {
      at += operand.strides[d];
      if (++index[d] < operand.sizes[d]) break;
      at -= index[d] * operand.strides[d];
      index[d] = 0;
    }
    if (d == static_cast<size_t>(-1)) return own;
  }
}

}  // namespace

std::string OutputGaps::Change::text() const {
  return fmt::format("{} bytes written between the elements of the output (first at byte {} of it)",
                     changed, byte);
}

OutputGaps OutputGaps::of(const Problem& problem) {
  OutputGaps made;
  for (const OutputPlaces::Place& place : OutputPlaces::of(problem).places) {
    const Operand& operand = problem.operands()[place.operand];
    const auto size = static_cast<size_t>(size_bytes(operand.dtype));
    size_t elements = 1;
    for (const int64_t dimension : operand.sizes) elements *= static_cast<size_t>(dimension);
    if (elements * size == place.bytes) continue;
    const std::vector<bool> own = covered(operand);
    for (size_t begin = 0; begin < own.size();) {
      size_t end = begin;
      while (end < own.size() && !own[end]) ++end;
      if (end > begin) made.gaps_.push_back({place.offset + begin * size, (end - begin) * size});
      begin = end + 1;
    }
  }
  return made;
}

void OutputGaps::poison(std::span<std::byte> piece, uint64_t seed) const {
  for (size_t i = 0; i < gaps_.size(); ++i)
    verify::poison(piece.subspan(gaps_[i].offset, gaps_[i].bytes), seed + i);
}

std::optional<OutputGaps::Change> OutputGaps::find_change(std::span<const std::byte> piece,
                                                          uint64_t seed) const {
  std::optional<Change> found;
  std::vector<std::byte> expected;
  for (size_t i = 0; i < gaps_.size(); ++i) {
    const auto gap = piece.subspan(gaps_[i].offset, gaps_[i].bytes);
    if (still_poisoned(gap, seed + i) == gap.size()) continue;
    expected.resize(gap.size());
    verify::poison(expected, seed + i);
    for (size_t b = 0; b < gap.size(); ++b) {
      if (gap[b] == expected[b]) continue;
      if (!found) found = Change{gaps_[i].offset + b, 0};
      ++found->changed;
    }
  }
  return found;
}

}  // namespace assay::verify
