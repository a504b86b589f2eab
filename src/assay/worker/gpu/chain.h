#pragma once

// The kernels of ours that stand around a kernel in a chain (docs/method.md): one ahead of it that
// writes its activations, one behind it that reads all of its output.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "assay/base/result.h"
#include "assay/device/cuda/cuda_device.h"

namespace assay::sweep {

// Both as PTX: assay_produce(u64 to, u64 from, u64 bytes, u64 digest, u32 mask, u64 hold_ns) and
// assay_consume(u64 from, u64 bytes, u64 digest). dependent: with both halves of dependent launch,
// for GPUs that have it (sm_90 and newer).
std::string chain_code(bool dependent);

class GpuChain {
 public:
  static Result<std::unique_ptr<GpuChain>> create(cuda::CudaDevice& device);

  // Copies `bytes` to where the kernel reads them, after it has read what the consumer before left.
  // Both lie at multiples of 16 bytes. A launch behind it may begin at once (where the GPU can do
  // that and the launch asks for it); with `hold` it does so while this one waits for so long
  // before it writes anything, on few multiprocessors, so that the other has the rest of the GPU.
  struct Hold {
    uint64_t ns = 0;
  };
  Status produce(Stream& stream, void* to, const void* from, size_t bytes, Hold hold = {0});

  // Reads all of an output, into a word that the next producer reads. dependent: it may begin
  // before what is ahead of it has ended, and waits by itself.
  Status consume(Stream& stream, const void* output, size_t bytes, bool dependent);

 private:
  explicit GpuChain(cuda::CudaDevice& device) : device_(device) {}

  cuda::CudaDevice& device_;
  std::shared_ptr<const cuda::Module> code_;
  void* produce_ = nullptr;
  void* consume_ = nullptr;
  std::unique_ptr<Buffer> digest_;
};

}  // namespace assay::sweep
