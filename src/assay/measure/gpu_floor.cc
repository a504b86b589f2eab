#include "assay/measure/gpu_floor.h"

#include <algorithm>

namespace assay::measure {
namespace {

// Of f16, a clock and multiprocessor.
double tensor_operations(double capability) {
  if (capability >= 10) return 16384;
  return capability >= 9 ? 4096 : 2048;
}

// How much faster than f16 a type may be, at most.
double factor(DType dtype) {
  switch (size_bytes(dtype)) {
    case 8:
      return 0.25;
    case 4:
      return 0.5;
    case 2:
      return 1;
    default:
      return 4;
  }
}

}  // namespace

double gpu_floor_seconds(double flops, double cold_bytes, DType dtype, const GpuLimits& limits,
                         bool chained) {
  constexpr double kReadAtLeast = 0.5, kGenerous = 2, kLinkSeconds = 6e-6;
  const double rate = kGenerous * tensor_operations(limits.capability) * factor(dtype) *
                      limits.multiprocessors * limits.clock_hz;
  const double by_flops = rate > 0 ? flops / rate : 0;
  const double by_bytes =
      limits.bytes_per_second > 0 ? kReadAtLeast * cold_bytes / limits.bytes_per_second : 0;
  return std::max(0.0, std::max(by_flops, by_bytes) - (chained ? kLinkSeconds : 0));
}

}  // namespace assay::measure
