#include "assay/measure/stop_copy.h"

#include <algorithm>
#include <cstring>
#include <sys/random.h>

#include "assay/base/clock.h"

namespace assay::measure {

uint64_t StopCopy::draw() {
  uint64_t drawn = 0;
  if (::getrandom(&drawn, sizeof drawn, GRND_NONBLOCK) == sizeof drawn) return drawn;
  // A machine that has just started: nobody foresees the nanosecond either.
  return static_cast<uint64_t>(monotonic_ns()) * 0x9e3779b97f4a7c15;
}

void StopCopy::aim(std::span<const std::span<const std::byte>> outputs) {
  drop();
  outputs_.assign(outputs.begin(), outputs.end());
  parts_.reserve(outputs.size());
  copy_.resize(kMostBytes);
}

void StopCopy::take() {
  if (outputs_.empty()) return;
  const uint64_t drawn = draw();
  first_ = static_cast<size_t>(drawn >> 32) % outputs_.size();
  std::byte* to = copy_.data();
  size_t left = kMostBytes;
  for (size_t i = 0; i < outputs_.size(); ++i) {
    std::span<const std::byte> part = outputs_[(first_ + i) % outputs_.size()];
    if (i == 0 && part.size() > left)
      part = part.subspan((drawn & 0xffffffff) * (part.size() - left + 1) >> 32, left);
    if (part.size() > left) break;
    if (!part.empty()) std::memcpy(to, part.data(), part.size());
    to += part.size();
    left -= part.size();
    parts_.push_back(part);
  }
  taken_ = true;
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
