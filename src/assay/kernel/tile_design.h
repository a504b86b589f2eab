#pragma once

// The attributes of a design by which kernels for GPUs are scored, read from many rows.

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "assay/kernel/design.h"

namespace assay {

// In the problem's terms: where a kernel runs with its operands exchanged (out' = b' x a'), m and n
// are exchanged here.
struct TileDesign {
  int64_t tile_m = 0, tile_n = 0;
  int64_t tile_k = 0;  // 0: not said.
  int64_t cluster_m = 1, cluster_n = 1;
  int64_t stages = 0;   // Of the pipeline that loads tiles; 0: as many as fit.
  int64_t split_k = 1;  // Parts of k that are summed afterwards.
  bool stream_k = false;
  bool pingpong = false;  // Two tiles of a multiprocessor take turns with its tensor cores.
};

// Columns are looked up once for rows of the same axes.
//
// tile_m, tile_n (needed), tile_k, cluster_m, cluster_n, stages, split_k: integers. schedule,
// scheduler: texts in which "pingpong" and "stream_k" mean that. swapped: true where a and b change
// places, so that the design's m is the problem's n.
class TileReader {
 public:
  // Empty: `tile` is the row's. Otherwise why it cannot be scored.
  std::string_view read(const Design& design, TileDesign& tile);

 private:
  void look_up(const std::shared_ptr<const DesignAxes>& axes);

  static constexpr size_t kIntegers = 7, kTexts = 2;
  std::shared_ptr<const DesignAxes> axes_;  // Of the row before.
  std::array<size_t, kIntegers> integers_{};
  std::array<size_t, kTexts> texts_{};
  size_t swapped_ = 0;
};

}  // namespace assay
