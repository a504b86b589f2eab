#include "assay/select/problem_digest.h"

#include <algorithm>
#include <bit>

namespace assay {
namespace {

constexpr size_t kBytes = 8;

// Text in a place of its own, so that a kind can be hashed without a string being made. What is
// beyond its end is left out: kinds of operations are a tenth of it.
class Text {
 public:
  Text& operator+=(std::string_view more) {
    const size_t taken = std::min(more.size(), data_.size() - size_);
    std::copy_n(more.begin(), taken, data_.begin() + static_cast<std::ptrdiff_t>(size_));
    size_ += taken;
    return *this;
  }
  std::string_view view() const { return {data_.data(), size_}; }

 private:
  std::array<char, 2048> data_;
  size_t size_ = 0;
};

std::string_view major_of(const Operand& operand) {
  const size_t rank = std::min(operand.strides.size(), operand.sizes.size());
  if (rank == 0 || operand.strides[rank - 1] == 1 || operand.sizes[rank - 1] == 1) return " t";
  return rank > 1 && operand.strides[rank - 2] == 1 ? " n" : " s";
}

std::string_view access_of(const Operand& operand) {
  return operand.access == Access::read    ? ""
         : operand.access == Access::write ? " written"
                                           : " updated";
}

void describe(const Problem& problem, Text& kind) {
  kind += problem.operation();
  for (const auto& [name, size] : problem.dimensions()) {
    kind += " ";
    kind += name;
  }
  for (const Operand& operand : problem.operands()) {
    kind += "; ";
    kind += operand.role;
    kind += " ";
    kind += to_string(operand.dtype);
    kind += major_of(operand);
    kind += access_of(operand);
    if (operand.lifetime == Lifetime::constant) kind += " constant";
  }
  for (const auto& [name, value] : problem.attributes()) {
    if (name == "layout") continue;
    kind += "; ";
    kind += name;
    kind += "=";
    kind += to_string(value);
  }
}

FastDigest measures_digest(uint64_t seed, std::span<const int64_t> measures) {
  return fast_digest(std::as_bytes(measures), seed);
}

}  // namespace

std::string kind_of(const Problem& problem) {
  Text kind;
  describe(problem, kind);
  return std::string(kind.view());
}

Measures measures_of(const Problem& problem) {
  Measures measures;
  const auto push = [&](int64_t value) {
    if (measures.count < Measures::kMost) measures.values[measures.count++] = value;
  };
  for (const auto& [name, size] : problem.dimensions()) push(size);
  for (const Operand& operand : problem.operands()) {
    for (const int64_t size : operand.sizes) push(size);
    for (size_t i = 0; i < operand.strides.size(); ++i)
      push(i < operand.sizes.size() && operand.sizes[i] == 1 ? 0 : operand.strides[i]);
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

FastDigest whole_digest(std::string_view kind, std::span<const int64_t> measures) {
  return measures_digest(kind_digest(kind), measures);
}

ProblemDigest digest_of(const Problem& problem) {
  Text kind;
  describe(problem, kind);
  const uint64_t seed = kind_digest(kind.view());
  return {seed, measures_digest(seed, measures_of(problem).span()), alignments_of(problem)};
}

}  // namespace assay
