#pragma once

// A kernel bound to operands of its own: for tests that want to launch one and no more.

#include <memory>
#include <string>
#include <vector>

#include "assay/device/cpu/cpu_device.h"
#include "assay/kernel/catalog.h"
#include "assay/op/operation.h"

namespace assay::testing {

class BoundKernel {
 public:
  // Uniform inputs, at addresses that are aligned as the problem promises and no more. Errors are
  // the kernel's own. device: one core where it is null, else one whose memory is the host's.
  static Result<BoundKernel> make(const Kernel& kernel, const Problem& problem, int threads = 1,
                                  const CompileContext& context = {},
                                  std::unique_ptr<Device> device = nullptr);

  Status launch() { return plan_.launch(*stream_); }
  Status wait() { return stream_->synchronize(); }
  Check check() const;
  Plan& plan() { return plan_; }
  Stream& stream() { return *stream_; }
  Device& device() { return *device_; }
  const Artifact& artifact() const { return artifact_; }
  // Where operand i of the problem lies.
  void* data(size_t operand) const { return buffers_[operand]->data(); }
  void* prepared() const { return plan_.data().back(); }  // Null if nothing is.

 private:
  std::unique_ptr<Device> device_;
  std::unique_ptr<Stream> stream_;
  std::unique_ptr<Instance> instance_;
  std::vector<std::unique_ptr<Buffer>> buffers_;
  std::unique_ptr<Buffer> workspace_;
  Artifact artifact_;
  Plan plan_;
  size_t output_ = 0;
};

// The kernels of some families that run a problem here, by family and name: "gemm/sgemm".
Result<Kernel> find_kernel(const std::vector<std::shared_ptr<const Family>>& families,
                           const Problem& problem, const std::string& family_and_name);

}  // namespace assay::testing
