#pragma once

#include <string>
#include <vector>

#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/device/cuda/cuda_device.h"
#include "assay/input/kernel_source.h"

namespace assay::cli {

// The GPUs that the driver shows, or why there is none.
struct GpuList {
  std::vector<cuda::Gpu> gpus;
  std::string why_none;
};
GpuList list_gpus();
Json gpus_json(const GpuList& list);  // The GPUs.

// The UUID of the GPU that --device names (grammar: device/cuda/selection.h); empty for the CPU,
// which is what is used where nothing is named. Lists GPUs through the driver, in this process; no
// context is made.
Result<std::string> choose_device(const std::string& wanted);

// For kernels whose device nobody named: the first GPU where all files, and all providers (or
// kernels, PROVIDER/NAME) that were named, are for GPUs; else the CPU, also where nothing was
// named. Files that could not be read and providers that there are not are for the CPU here;
// whoever needs them says what is wrong.
Result<std::string> device_for(const Result<std::vector<input::KernelSource>>& files,
                               const std::vector<std::string>& named);

}  // namespace assay::cli
