#pragma once

// The self-check of a cold condition on a GPU (docs/method.md): how long a thread waits for lines
// of memory, each read after the one before has come.

#include <cstddef>
#include <memory>
#include <string>

#include "assay/base/result.h"
#include "assay/device/cuda/cuda_device.h"
#include "assay/measure/cold_probe.h"

namespace assay::sweep {

// Its code: assay_probe(u64 from, u64 lines, u64 stride, u32 mask, u64 ns).
std::string probe_code(const std::string& target);

class GpuProbe {
 public:
  static Result<std::unique_ptr<GpuProbe>> create(cuda::CudaDevice& device);

  // Of lines spread evenly over device memory, at most kLines of them.
  static constexpr size_t kLines = 256, kLineBytes = 128;
  struct Reading {
    measure::ColdProbe probe;  // Of all lines, one after the other, and then again.
    size_t lines = 0;
  };
  Result<Reading> read(Stream& stream, const void* data, size_t bytes);

  // The GPU knows where its pages are, and has read no line that read() reads.
  Status find_pages(Stream& stream, const void* data, size_t bytes);

 private:
  explicit GpuProbe(cuda::CudaDevice& device) : device_(device) {}
  Result<measure::ColdProbe> walk(Stream& stream, const std::byte* from, size_t lines,
                                  size_t stride);

  cuda::CudaDevice& device_;
  std::shared_ptr<const cuda::Module> code_;
  void* function_ = nullptr;
  std::unique_ptr<Buffer> ns_;
};

}  // namespace assay::sweep
