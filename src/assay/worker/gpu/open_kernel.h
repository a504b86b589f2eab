#pragma once

// A kernel that a GpuProblem times. Private to it.

#include <memory>
#include <vector>

#include "assay/process/set_turns.h"
#include "assay/worker/gpu/problem.h"
#include "assay/worker/recent_launches.h"

namespace assay::sweep {

// Memory of a GPU that kernels pack constant operands into.
class GpuPool : public Prepared {
 public:
  explicit GpuPool(cuda::CudaDevice& device) : device_(device) {}
  Result<std::span<std::byte>> allocate(size_t bytes) override {
    ASSAY_TRY(auto buffer, device_.allocate(bytes, {}));
    buffers_.push_back(std::move(buffer));
    return std::span<std::byte>(static_cast<std::byte*>(buffers_.back()->data()), bytes);
  }

 private:
  cuda::CudaDevice& device_;
  std::vector<std::unique_ptr<Buffer>> buffers_;
};

struct GpuProblem::OpenKernel {
  Kernel kernel;
  std::unique_ptr<GpuArena> buffers;  // Outputs, then workspaces.
  std::unique_ptr<GpuPool> prepared;  // Outlives the plans that point into it.
  std::vector<Plan> plans;            // One per operand set.
  RecentLaunches recent;
  size_t outputs = kLeastOutputs;  // Launches go round them.
};

}  // namespace assay::sweep
