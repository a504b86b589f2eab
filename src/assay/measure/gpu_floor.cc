#include "assay/measure/gpu_floor.h"

#include <algorithm>

#include "assay/device/cuda/limits.h"

namespace assay::measure {

double gpu_floor_seconds(double flops, double cold_bytes, DType dtype, const DeviceFacts& gpu,
                         bool chained) {
  constexpr double kReadAtLeast = 0.5, kLinkSeconds = 6e-6;
  const double rate =
      cuda::most_tensor_operations(gpu.capability, dtype) * gpu.multiprocessors * gpu.clock_hz;
  const double by_flops = rate > 0 ? flops / rate : 0;
  const double by_bytes =
      gpu.bytes_per_second > 0 ? kReadAtLeast * cold_bytes / gpu.bytes_per_second : 0;
  return std::max(0.0, std::max(by_flops, by_bytes) - (chained ? kLinkSeconds : 0));
}

}  // namespace assay::measure
