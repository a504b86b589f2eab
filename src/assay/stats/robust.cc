#include "assay/stats/robust.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

namespace assay::stats {
namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

std::vector<double> sorted(std::span<const double> samples) {
  std::vector<double> copy(samples.begin(), samples.end());
  std::sort(copy.begin(), copy.end());
  return copy;
}

// How many samples to cut whole from each end, never all of them.
std::size_t whole_cut(std::size_t count, double fraction) {
  const double share = std::clamp(fraction, 0.0, 0.5);
  // The nudge keeps 0.2 * 15 from falling to 2.999...
  const auto cut = static_cast<std::size_t>(share * static_cast<double>(count) + 1e-9);
  return std::min(cut, (count - 1) / 2);
}

}  // namespace

double mean(std::span<const double> samples) {
  if (samples.empty()) return kNone;
  return std::accumulate(samples.begin(), samples.end(), 0.0) / static_cast<double>(samples.size());
}

double median(std::span<const double> samples) {
  if (samples.empty()) return kNone;
  const std::vector<double> order = sorted(samples);
  const std::size_t half = order.size() / 2;
  return order.size() % 2 == 1 ? order[half] : (order[half - 1] + order[half]) / 2;
}

double upper_quartile(std::span<const double> samples) {
  return samples.empty() ? kNone : sorted(samples)[samples.size() * 3 / 4];
}

double lower_quartile(std::span<const double> samples) {
  return samples.empty() ? kNone : sorted(samples)[samples.size() / 4];
}

double standard_deviation(std::span<const double> samples) {
  if (samples.size() < 2) return kNone;
  const double centre = mean(samples);
  double squares = 0;
  for (const double sample : samples) squares += (sample - centre) * (sample - centre);
  return std::sqrt(squares / static_cast<double>(samples.size() - 1));
}

double trimmed_mean(std::span<const double> samples, double fraction) {
  if (samples.empty()) return kNone;
  const std::vector<double> order = sorted(samples);
  const std::size_t count = order.size();
  const std::size_t cut = whole_cut(count, fraction);
  const double exact = std::clamp(fraction, 0.0, 0.5) * static_cast<double>(count);
  // The outermost kept sample on each side counts by what the cut left of it; where only one or two
  // samples are kept they are both ends, and count alike.
  const bool only_ends = count - 2 * cut <= 2;
  const double end_weight = only_ends ? 1 : 1 - std::max(0.0, exact - static_cast<double>(cut));
  double sum = 0;
  double weights = 0;
  for (std::size_t i = cut; i < count - cut; ++i) {
    const bool at_end = i == cut || i == count - cut - 1;
    const double weight = at_end ? end_weight : 1;
    sum += weight * order[i];
    weights += weight;
  }
  return sum / weights;
}

double trimmed_standard_error(std::span<const double> samples, double fraction) {
  if (samples.size() < 2) return kNone;
  std::vector<double> order = sorted(samples);
  const std::size_t count = order.size();
  std::size_t cut = whole_cut(count, fraction);
  // Two kept samples are too few to tell a spread from: keep three where there are three.
  while (cut > 0 && count - 2 * cut < 3) --cut;
  for (std::size_t i = 0; i < cut; ++i) {
    order[i] = order[cut];
    order[count - 1 - i] = order[count - 1 - cut];
  }
  const double kept = static_cast<double>(count - 2 * cut);
  const double deviation = standard_deviation(order);
  const double squares = deviation * deviation * static_cast<double>(count - 1);
  return std::sqrt(squares / (kept * (kept - 1)));
}

}  // namespace assay::stats
