#pragma once

#include <vector>

#include "assay/base/result.h"
#include "assay/device/cuda/cuda_device.h"
#include "assay/op/problem.h"
#include "assay/record/environment.h"

namespace assay::sweep {

// What a GPU reaches now: "read" and "copy" (bytes/s over buffers that no cache holds; a copy
// counts both ways), "flops_f16", "flops_bf16" (tensor cores, random operands in shared memory,
// float32 sums), "flops_f64" (tensor cores) and "flops_f32" (multiply-adds in registers). Each the
// best of five slices of milliseconds: a GPU at its power limit sustains less.
Result<std::vector<Ceiling>> measure_gpu_ceilings(cuda::CudaDevice& device);

// The same, kept in `folder` for that GPU, driver and version of assay: measured where nothing is
// there, or what is there cannot be read.
Result<std::vector<Ceiling>> gpu_ceilings(cuda::CudaDevice& device, const std::string& folder);

}  // namespace assay::sweep
