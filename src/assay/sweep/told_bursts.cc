#include "assay/sweep/told_bursts.h"

#include <array>

#include <nlohmann/json.hpp>

#include "assay/base/clock.h"

namespace assay::sweep {
namespace {

// Longer than any limit of a call; sums of such numbers stay numbers.
constexpr int64_t kMostNs = 100'000 * kNsPerSecond;

bool is_duration(int64_t ns) { return ns >= -kMostNs && ns <= kMostNs; }

std::optional<ToldBurst> read_burst(const Json& burst, int64_t asked) {
  std::array<int64_t, 7> fields{};
  if (!burst.is_array() || burst.size() != fields.size()) return std::nullopt;
  for (size_t i = 0; i < fields.size(); ++i) {
    if (!burst[i].is_number_integer()) return std::nullopt;
    fields[i] = burst[i].get<int64_t>();
    if (!is_duration(fields[i])) return std::nullopt;
  }
  const auto [ns, clean, waited, launches, taken, ahead, since] = fields;
  if (ns <= 0 || launches <= 0 || launches > asked) return std::nullopt;
  return ToldBurst{.ns = ns,
                   .waited_ns = waited,
                   .clean = clean == 1,
                   .launches = static_cast<int>(launches),
                   .told = {ns, taken, ahead},
                   .others_since_ns = since};
}

}  // namespace

std::optional<std::vector<ToldBurst>> read_bursts(const Json& answer, const Json& asked) {
  const auto bursts = answer.find("bursts");
  if (bursts == answer.end() || !bursts->is_array() || bursts->size() != asked.size())
    return std::nullopt;
  std::vector<ToldBurst> told;
  for (const Json& burst : *bursts) {
    const auto one = read_burst(burst, asked[told.size()][1].get<int>());
    if (!one) return std::nullopt;
    told.push_back(*one);
  }
  return told;
}

}  // namespace assay::sweep
