#pragma once

// What the driver says of the launches of a plan: for reading what limits a kernel.

#include <span>
#include <vector>

#include "assay/device/cuda/cuda_device.h"
#include "assay/kernel/plan.h"
#include "assay/record/outcome.h"

namespace assay::sweep {

// One for each step that is device code. What the driver does not tell stays 0.
std::vector<GpuLaunchFacts> launches_of(const cuda::CudaDevice& device,
                                        std::span<const Step> steps);

}  // namespace assay::sweep
