#pragma once

// Points in the space of log2 of sizes, each dimension times its weight, and which of them are
// nearest. Never changes once made.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace assay {

class SizeIndex {
 public:
  static constexpr size_t kMostDimensions = 8;

  SizeIndex() = default;
  // A weight for each dimension; rows of as many sizes (at least 1 each), numbered from 0.
  SizeIndex(std::span<const float> weights, std::span<const int64_t> sizes);

  struct Hit {
    uint32_t point = 0;
    float distance = 0;  // Euclidean: twice a size of weight 1 is 1 away.
  };

  // As many as there are and `hits` has room for: no point that is not among them is nearer, or as
  // near with a lower number. In the order of by_distance(); returns how many. Allocates nothing.
  size_t nearest(std::span<const int64_t> sizes, std::span<Hit> hits) const;

  // All of them, nearest first, equally near ones by their number.
  std::vector<Hit> by_distance(std::span<const int64_t> sizes) const;

  size_t size() const { return numbers_.size(); }

 private:
  struct Search;
  void arrange(std::span<const float> points, size_t first, size_t last);
  void search(Search& state, size_t first, size_t last) const;
  float squared(const float* at, size_t place) const;
  void to_logs(std::span<const int64_t> sizes, float* logs) const;  // dimensions_ of them.

  // A k-d tree without pointers: the middle of a range is its root, the halves are its children.
  size_t dimensions_ = 0;
  std::vector<float> weights_;
  std::vector<uint32_t> numbers_;  // By place.
  std::vector<float> logs_;        // By place, dimensions_ each.
  std::vector<uint8_t> axes_;      // By place: the dimension that its range is split along.
};

}  // namespace assay
