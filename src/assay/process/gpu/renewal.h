#pragma once

// Fresh numbers for operands that lie on a GPU, made there: op/renewal.h.

#include <memory>
#include <string>

#include "assay/device/cuda/cuda_device.h"
#include "assay/op/renewal.h"

namespace assay::sweep {

// Its code: assay_renew(to, elements; of the dimensions by stride, largest first: the sizes of the
// middle and the inner one, and three strides in elements; key, stream, scale, low, odd_first,
// odd_step, part, parts, flip_key; of 4 bytes: which of the dimensions (0 outer .. 2 inner) lines
// and which places are counted along, count, drawn_are_small, high, reach, the ElementCode of
// process/gpu/code.h, log2 of an element's bytes).
std::string renewal_code(const std::string& target);

class GpuRenewal {
 public:
  // ErrorCode::unsupported where the GPU makes other numbers than the host: it is tried.
  static Result<std::unique_ptr<GpuRenewal>> create(cuda::CudaDevice& device);

  // to: the operand's start. Enqueued, behind what is in the stream.
  Status renew(Stream& stream, void* to, const Renewal& renewal);

 private:
  explicit GpuRenewal(cuda::CudaDevice& device) : device_(device) {}
  Status try_out(DType dtype);

  cuda::CudaDevice& device_;
  std::shared_ptr<const cuda::Module> code_;
  void* function_ = nullptr;
};

}  // namespace assay::sweep
