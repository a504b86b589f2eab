#pragma once

// Red zones in memory of a GPU: written and looked at there, all in one launch, since each visit
// of the host waits for its turn among all that use the GPU.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "assay/base/result.h"
#include "assay/device/cuda/cuda_device.h"

namespace assay::sweep {

// Its code: assay_zones(starts of zones, their number of words, 8 bytes each, counts of 4 bytes, a
// seed; of 4 bytes: whether to write). Zones may begin at any byte.
std::string zones_code(const std::string& target);

class GpuZones {
 public:
  static constexpr size_t kZoneBytes = 4096;

  // stream: where all that may write to zones runs; it outlives this.
  static Result<std::unique_ptr<GpuZones>> create(cuda::CudaDevice& device, Stream& stream);

  // Random bits all over zones, which the seed says, and each one's place among them. Enqueued.
  Status mark(std::span<const void* const> zones, uint64_t seed);
  // How many bytes of each are not what mark() left, once all that is ahead in the stream is done.
  Result<std::vector<uint32_t>> changed(std::span<const void* const> zones, uint64_t seed);

  cuda::CudaDevice& device() const { return device_; }

 private:
  GpuZones(cuda::CudaDevice& device, Stream& stream) : device_(device), stream_(stream) {}
  Status try_out();
  Status visit(std::span<const void* const> zones, uint64_t seed, bool write);
  void* counts(size_t zones) const;

  cuda::CudaDevice& device_;
  Stream& stream_;
  std::shared_ptr<const cuda::Module> code_;
  void* function_ = nullptr;
  std::unique_ptr<Buffer> scratch_;  // Starts, then counts.
};

}  // namespace assay::sweep
