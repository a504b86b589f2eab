#pragma once

// Processes that come one after the other are given the physical pages that the one before gave
// back, in the same order: what they measure would share one placement in caches and memory banks,
// which the spread between them does not show. Scattered, each has a placement of its own.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace assay::measure {

class Scatter {
 public:
  // Takes pages of both sizes and gives a random half of them back in random order, which is what
  // is allocated next; the others are held as long as this lives. About 10 ms. Nothing is done
  // where memory is short.
  explicit Scatter(uint64_t seed);
  ~Scatter();
  Scatter(Scatter&& other) noexcept;
  Scatter& operator=(Scatter&& other) noexcept;

 private:
  void give_back();
  std::vector<std::span<std::byte>> held_;
};

}  // namespace assay::measure
