#include "assay/record/own_clock.h"

namespace assay {
namespace {

// The sum of a field over the launches, of blocks where it is known.
std::optional<double> per_launch(const OwnClock& clock, std::string_view id,
                                 double ClockBlock::*field) {
  double sum = 0;
  std::int64_t launches = 0;
  for (const ClockBlock& block : clock.blocks) {
    if (block.id != id || block.*field <= 0) continue;
    sum += block.*field;
    launches += block.launches;
  }
  if (launches <= 0) return std::nullopt;
  return sum / static_cast<double>(launches);
}

}  // namespace

std::optional<double> OwnClock::microseconds(std::string_view id) const {
  const auto seconds = per_launch(*this, id, &ClockBlock::seconds);
  return seconds ? std::optional(*seconds * 1e6) : std::nullopt;
}

std::optional<double> OwnClock::joules(std::string_view id) const {
  return per_launch(*this, id, &ClockBlock::joules);
}

std::optional<double> OwnClock::ratio() const {
  const auto mine = microseconds(candidate), others = microseconds(other);
  if (!mine || !others) return std::nullopt;
  return *others / *mine;
}

}  // namespace assay
