#pragma once

// What the GPU says of its state, through NVML, loaded at run time. Slow (milliseconds) and stale:
// sampled aside of measurements, never inside one.
// Source: NVML API reference, https://docs.nvidia.com/deploy/nvml-api/

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "assay/base/result.h"

namespace assay::cuda {

// What is missing was not to be had: virtual machines hide much.
struct GpuState {
  std::optional<int> sm_mhz, memory_mhz, most_sm_mhz;
  std::optional<double> watts, limit_watts;
  std::optional<double> joules;  // Since the driver was loaded.
  std::optional<int> celsius;
  std::optional<uint64_t> throttle_bits;  // throttle_reasons() says them.
};

struct GpuProcess {
  int pid = 0;
  uint64_t memory_bytes = 0;
};

// "power cap", "thermal", ... Idle clocks and clocks that somebody set are no throttling.
std::vector<std::string> throttle_reasons(uint64_t bits);

class Nvml {
 public:
  // libnvidia-ml.so.1, or the file given. ErrorCode::unsupported with a remedy.
  static Result<std::shared_ptr<const Nvml>> open(const std::string& path = {});
  virtual ~Nvml() = default;

  virtual std::string driver_version() const = 0;  // "580.65.06"; empty if it is not told.
  // uuid as the driver spells it. ErrorCode::not_found for another one.
  virtual Result<GpuState> state(const std::string& uuid) const = 0;
  // Those of other processes than `self`; empty too where they are not told (containers).
  virtual Result<std::vector<GpuProcess>> others(const std::string& uuid, int self) const = 0;
};

}  // namespace assay::cuda
