#include "assay/op/problem_digest.h"

#include <algorithm>
#include <bit>

#include "assay/base/hash.h"
#include "assay/op/problem.h"

namespace assay {
namespace {

constexpr size_t kBytes = 8;

char major_of(const Operand& operand) {
  const size_t rank = std::min(operand.strides.size(), operand.sizes.size());
  if (rank == 0 || operand.strides[rank - 1] == 1 || operand.sizes[rank - 1] == 1) return 't';
  return rank > 1 && operand.strides[rank - 2] == 1 ? 'n' : 's';
}

}  // namespace

std::string kind_of(const Problem& problem) {
  std::string kind = problem.operation();
  for (const auto& [name, size] : problem.dimensions()) kind += ' ' + name;
  for (const Operand& operand : problem.operands()) {
    kind += fmt::format("; {} {} {}", operand.role, to_string(operand.dtype), major_of(operand));
    if (operand.access != Access::read)
      kind += operand.access == Access::write ? " written" : " updated";
    if (operand.lifetime == Lifetime::constant) kind += " constant";
  }
  for (const auto& [name, value] : problem.attributes())
    if (name != "layout") kind += fmt::format("; {}={}", name, to_string(value));
  return kind;
}

std::vector<int64_t> measures_of(const Problem& problem) {
  std::vector<int64_t> measures;
  measures.reserve(32);
  for (const auto& [name, size] : problem.dimensions()) measures.push_back(size);
  for (const Operand& operand : problem.operands()) {
    measures.insert(measures.end(), operand.sizes.begin(), operand.sizes.end());
    for (size_t i = 0; i < operand.strides.size(); ++i)
      measures.push_back(i < operand.sizes.size() && operand.sizes[i] == 1 ? 0
                                                                           : operand.strides[i]);
  }
  return measures;
}

uint64_t alignments_of(const Problem& problem) {
  uint64_t packed = 0;
  size_t place = 0;
  for (const Operand& operand : problem.operands()) {
    const auto alignment = static_cast<uint64_t>(std::max<int64_t>(operand.alignment, 1));
    const auto log2 = static_cast<uint64_t>(std::bit_width(alignment) - 1);
    const size_t shift = 8 * std::min(place, kBytes - 1);
    const uint64_t there = packed >> shift & 0xff;
    const uint64_t least = place < kBytes ? log2 : std::min(there, log2);
    packed = (packed & ~(uint64_t{0xff} << shift)) | least << shift;
    ++place;
  }
  return packed;
}

uint64_t kind_digest(std::string_view kind) { return fast_hash(kind); }

std::array<uint64_t, 2> whole_digest(std::string_view kind, std::span<const int64_t> measures) {
  const uint64_t seed = kind_digest(kind);
  const auto bytes = std::as_bytes(measures);
  return {fast_hash(bytes, seed), fast_hash(bytes, ~seed)};
}

ProblemDigest digest_of(const Problem& problem) {
  const std::string kind = kind_of(problem);
  return {kind_digest(kind), whole_digest(kind, measures_of(problem)), alignments_of(problem)};
}

}  // namespace assay
