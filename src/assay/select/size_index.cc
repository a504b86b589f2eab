#include "assay/select/size_index.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

namespace assay {
namespace {

constexpr size_t kLeaf = 8;  // Points that are looked at one after the other.

float log_of(int64_t size) { return std::log2(static_cast<float>(std::max<int64_t>(size, 1))); }

}  // namespace

SizeIndex::SizeIndex(std::span<const float> weights, std::span<const int64_t> sizes)
    : dimensions_(std::clamp<size_t>(weights.size(), 1, kMostDimensions)),
      weights_(weights.begin(), weights.end()) {
  weights_.resize(dimensions_, 1);
  const size_t count = sizes.size() / dimensions_;
  std::vector<float> points(count * dimensions_);
  for (size_t i = 0; i < count; ++i)
    to_logs(sizes.subspan(i * dimensions_, dimensions_), points.data() + i * dimensions_);
  numbers_.resize(count);
  std::iota(numbers_.begin(), numbers_.end(), 0u);
  axes_.assign(count, 0);
  arrange(points, 0, count);
  for (const uint32_t number : numbers_) {
    const float* point = points.data() + number * dimensions_;
    logs_.insert(logs_.end(), point, point + dimensions_);
  }
}

void SizeIndex::arrange(std::span<const float> points, size_t first, size_t last) {
  if (last - first <= kLeaf) return;
  const auto begin = numbers_.begin() + static_cast<std::ptrdiff_t>(first);
  const auto end = numbers_.begin() + static_cast<std::ptrdiff_t>(last);
  size_t axis = 0;
  float widest = -1;
  for (size_t d = 0; d < dimensions_; ++d) {
    const auto [low, high] = std::minmax_element(begin, end, [&](uint32_t x, uint32_t y) {
      return points[x * dimensions_ + d] < points[y * dimensions_ + d];
    });
    const float width = points[*high * dimensions_ + d] - points[*low * dimensions_ + d];
    if (width > widest) axis = d, widest = width;
  }
  const size_t middle = first + (last - first) / 2;
  std::nth_element(begin, numbers_.begin() + static_cast<std::ptrdiff_t>(middle), end,
                   [&](uint32_t x, uint32_t y) {
                     return points[x * dimensions_ + axis] < points[y * dimensions_ + axis];
                   });
  axes_[middle] = static_cast<uint8_t>(axis);
  arrange(points, first, middle);
  arrange(points, middle + 1, last);
}

struct SizeIndex::Search {
  const float* at;
  std::span<Hit> hits;  // Distances are squared until the search is over.
  size_t count = 0;

  // What is further away cannot be a hit any more.
  float limit() const { return count < hits.size() ? HUGE_VALF : hits[count - 1].distance; }

  void see(uint32_t number, float squared) {
    const auto before = [&](const Hit& hit) {
      return squared < hit.distance || (squared == hit.distance && number < hit.point);
    };
    if (count == hits.size() && !before(hits[count - 1])) return;
    if (count < hits.size()) ++count;
    size_t place = count - 1;
    for (; place > 0 && before(hits[place - 1]); --place) hits[place] = hits[place - 1];
    hits[place] = {number, squared};
  }
};

float SizeIndex::squared(const float* at, size_t place) const {
  float sum = 0;
  for (size_t d = 0; d < dimensions_; ++d) {
    const float step = at[d] - logs_[place * dimensions_ + d];
    sum += step * step;
  }
  return sum;
}

void SizeIndex::search(Search& state, size_t first, size_t last) const {
  while (last - first > kLeaf) {
    const size_t middle = first + (last - first) / 2;
    state.see(numbers_[middle], squared(state.at, middle));
    const float beyond = state.at[axes_[middle]] - logs_[middle * dimensions_ + axes_[middle]];
    // The half that `at` lies in first; the other only if it can hold something as near.
    if (beyond < 0) {
      search(state, first, middle);
      first = middle + 1;
    } else {
      search(state, middle + 1, last);
      last = middle;
    }
    if (beyond * beyond > state.limit()) return;
  }
  for (size_t place = first; place < last; ++place)
    state.see(numbers_[place], squared(state.at, place));
}

void SizeIndex::to_logs(std::span<const int64_t> sizes, float* logs) const {
  for (size_t d = 0; d < dimensions_; ++d)
    logs[d] = d < sizes.size() ? weights_[d] * log_of(sizes[d]) : 0;
}

size_t SizeIndex::nearest(std::span<const int64_t> sizes, std::span<Hit> hits) const {
  if (hits.empty()) return 0;
  std::array<float, kMostDimensions> at{};
  to_logs(sizes, at.data());
  Search found{.at = at.data(), .hits = hits};
  search(found, 0, numbers_.size());
  for (Hit& hit : hits.first(found.count)) hit.distance = std::sqrt(hit.distance);
  return found.count;
}

std::vector<SizeIndex::Hit> SizeIndex::by_distance(std::span<const int64_t> sizes) const {
  std::array<float, kMostDimensions> at{};
  to_logs(sizes, at.data());
  std::vector<Hit> all;
  for (size_t place = 0; place < numbers_.size(); ++place)
    all.push_back({numbers_[place], squared(at.data(), place)});
  std::sort(all.begin(), all.end(), [](const Hit& x, const Hit& y) {
    return x.distance != y.distance ? x.distance < y.distance : x.point < y.point;
  });
  for (Hit& hit : all) hit.distance = std::sqrt(hit.distance);
  return all;
}

}  // namespace assay
