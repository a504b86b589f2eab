#pragma once

// Static splits of work over threads, and a workspace cut into pieces.

#include <type_traits>

#include "gemm_call.h"
#include "thread_pool.h"

namespace assay::native_cpu {

struct Range {
  int64_t begin = 0, end = 0;
  int64_t size() const { return end - begin; }
};

// Part `part` of `parts` of [0, size), cut at multiples of grain.
inline Range part_of(int64_t size, int64_t grain, int part, int parts) {
  const int64_t units = (size + grain - 1) / grain;
  return {std::min(size, units * part / parts * grain),
          std::min(size, units * (part + 1) / parts * grain)};
}

// How rows are cut into register tiles: as few as possible, and as even as possible, because a
// last tile of one row costs nearly as much as a full one.
struct RowPasses {
  int64_t rows = 0;
  int64_t passes = 0;
  RowPasses(int64_t all, int largest) : rows(all), passes((all + largest - 1) / largest) {}
  int64_t first(int64_t pass) const { return rows * pass / passes; }
  int count(int64_t pass) const { return static_cast<int>(first(pass + 1) - first(pass)); }
};

constexpr int64_t aligned(int64_t bytes) { return (bytes + 63) / 64 * 64; }

// Runs function(part) for each part; false where the threads could not be had.
template <class Function>
bool on_threads(int parts, Function&& function) {
  using Called = std::remove_reference_t<Function>;
  return ThreadPool::shared().run(
      parts, [](void* state, int part) { (*static_cast<Called*>(state))(part); }, &function);
}

}  // namespace assay::native_cpu
