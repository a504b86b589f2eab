#include "gpu.h"

#include "assay/device/cuda/limits.h"

namespace assay::roofline {
namespace {

constexpr double kKiB = 1024, kMiB = 1024 * kKiB;

double known(double told, double usual) { return told > 0 ? told : usual; }

}  // namespace

Gpu gpu_of(const DeviceFacts& facts) {
  const double capability = facts.capability;
  Gpu gpu;
  const bool hopper = capability >= 9;
  gpu.multiprocessors = known(facts.multiprocessors, hopper ? 132 : 108);
  gpu.clock_hz = known(facts.clock_hz, hopper ? 1.83e9 : 1.41e9);
  gpu.dram_bytes_per_second = known(facts.bytes_per_second, hopper ? 3.35e12 : 2.04e12);
  gpu.l2_bytes = known(facts.l2_bytes, hopper ? 50 * kMiB : 40 * kMiB);
  // "5120 bytes a clock" of A100's white paper; H100's says nothing else.
  gpu.l2_bytes_per_clock = 5120;
  gpu.shared_bytes = static_cast<double>(cuda::most_shared_bytes(capability));
  // About a thousand clocks at these rates: published microbenchmarks have 470 to 500 ns idle for
  // A100 and H100, and a pipeline meets them loaded.
  gpu.latency_seconds = 0.7e-6;
  return gpu;
}

}  // namespace assay::roofline
