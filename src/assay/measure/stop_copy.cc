#include "assay/measure/stop_copy.h"

#include <algorithm>
#include <cstring>

#include "assay/base/random.h"

namespace assay::measure {

size_t StopCopy::aim(std::span<const std::span<const std::byte>> outputs, uint64_t seed) {
  drop();
  if (outputs.empty()) return 0;
  const CounterRandom random{seed, 0x73746f70};
  const auto first = static_cast<size_t>(random.below(0, outputs.size()));
  size_t bytes = 0;
  for (size_t i = 0; i < outputs.size(); ++i) {
    std::span<const std::byte> part = outputs[(first + i) % outputs.size()];
    if (i == 0 && part.size() > kMostBytes)
      part = part.subspan(static_cast<size_t>(random.below(1, part.size() - kMostBytes + 1)),
                          kMostBytes);
    if (bytes + part.size() > kMostBytes) break;
    bytes += part.size();
    parts_.push_back(part);
  }
  copy_.resize(std::max(copy_.size(), bytes));
  return first;
}

void StopCopy::take() {
  std::byte* to = copy_.data();
  for (const auto part : parts_) {
    if (!part.empty()) std::memcpy(to, part.data(), part.size());
    to += part.size();
  }
  taken_ = !parts_.empty();
}

bool StopCopy::differs() const {
  if (!taken_) return false;
  const std::byte* copied = copy_.data();
  for (const auto part : parts_) {
    if (!part.empty() && std::memcmp(copied, part.data(), part.size()) != 0) return true;
    copied += part.size();
  }
  return false;
}

}  // namespace assay::measure
