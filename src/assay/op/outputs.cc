#include "assay/op/outputs.h"

#include <algorithm>
#include <cstring>

namespace assay {
namespace {

constexpr size_t kLine = 64;

}  // namespace

OutputPlaces OutputPlaces::of(const Problem& problem) {
  OutputPlaces made;
  const auto operands = problem.operands();
  for (size_t i = 0; i < operands.size(); ++i) {
    if (operands[i].access == Access::read) continue;
    const size_t line = std::max(kLine, static_cast<size_t>(operands[i].alignment));
    const size_t offset = (made.bytes + line - 1) / line * line;
    const auto bytes = static_cast<size_t>(operands[i].span_bytes);
    made.places.push_back({i, offset, bytes, operands[i].access == Access::read_write});
    made.bytes = offset + bytes;
  }
  return made;
}

std::vector<std::span<const std::byte>> OutputPlaces::split(
    std::span<const std::byte> piece) const {
  std::vector<std::span<const std::byte>> outputs;
  for (const Place& place : places) {
    const auto rest = piece.subspan(std::min(place.offset, piece.size()));
    // A single output keeps what is there: whoever compares it says how much is missing.
    outputs.push_back(places.size() == 1 ? rest : rest.first(std::min(place.bytes, rest.size())));
  }
  return outputs;
}

void OutputPlaces::set(std::span<void*> data, void* piece) const {
  for (const Place& place : places)
    data[place.operand] = static_cast<std::byte*>(piece) + place.offset;
}

void OutputPlaces::give(std::span<void* const> inputs, void* piece) const {
  for (const Place& place : places)
    if (place.read)
      std::memcpy(static_cast<std::byte*>(piece) + place.offset, inputs[place.operand],
                  place.bytes);
}

}  // namespace assay
