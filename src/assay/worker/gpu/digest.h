#pragma once

// Whether memory of a GPU still holds what it held, told without bringing it back to the host.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "assay/base/result.h"
#include "assay/device/cuda/cuda_device.h"

namespace assay::sweep {

// Its code: assay_digest(u64 from, u64 bytes, u64 seed, u64 sum).
std::string digest_code(const std::string& target);

class GpuDigest {
 public:
  // seed: what makes this digest another one than any other's.
  static Result<std::unique_ptr<GpuDigest>> create(cuda::CudaDevice& device, uint64_t seed);

  // Of `bytes` at `data`, a multiple of 8, once all that is ahead of it in `stream` is done. Two
  // contents that differ have the same digest once in 2^64 times.
  Result<uint64_t> of(Stream& stream, const void* data, size_t bytes);

 private:
  GpuDigest(cuda::CudaDevice& device, uint64_t seed) : device_(device), seed_(seed) {}

  cuda::CudaDevice& device_;
  uint64_t seed_;
  std::shared_ptr<const cuda::Module> code_;
  void* function_ = nullptr;
  std::unique_ptr<Buffer> sum_;
};

}  // namespace assay::sweep
