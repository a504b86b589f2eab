#pragma once

#include "assay/tensor/dtype.h"

namespace assay::measure {

// What a GPU's data sheet allows, as its driver tells it. 0: not told.
struct GpuLimits {
  double capability = 0;  // 9.0.
  double multiprocessors = 0;
  double clock_hz = 0;          // The highest.
  double bytes_per_second = 0;  // Of its memory: two transfers a clock over the bus.
};

// No launch takes less. Bytes: of cold operands alone, and half of them, since a cache that
// operands rotate through three times over may still hold a third of them. Operations: of dense
// tensor instructions, twice those that the architecture is known to have (NVIDIA's white papers:
// 2048 operations of f16 a clock and multiprocessor for 8.0, 4096 for 9.0; later ones taken as four
// times that), other types in proportion. In a chain a kernel may do part of its work beside our
// own, which is subtracted: 6 us less. 0 where the GPU told nothing.
double gpu_floor_seconds(double flops, double cold_bytes, DType dtype, const GpuLimits& limits,
                         bool chained);

}  // namespace assay::measure
