#pragma once

// --device: which of the machine's devices a command runs on.

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "assay/base/result.h"
#include "assay/device/cuda/cuda_device.h"

namespace assay::cuda {

// "cpu"; "gpu" (the first GPU); a GPU's index as the driver counts; a UUID or its beginning, of
// at least 8 hexadecimal digits; a name or a part of it. Index -1 is the CPU.
// ErrorCode::invalid_input, listing the GPUs there are: nothing matches, or several do by a name
// or a UUID's beginning. `why_none`: what the driver said where there are no GPUs.
Result<int> choose_device(std::string_view wanted, std::span<const Gpu> gpus,
                          std::string_view why_none);

// The GPU of that UUID, in a process that was started with kVisibleGpus naming it. driver_path:
// as Driver::open has it. ErrorCode::device_lost where it is not there; machine where the driver
// shows others beside it, so that the pin does not hold.
Result<std::unique_ptr<CudaDevice>> open_pinned(const std::string& driver_path,
                                                const std::string& uuid);

// "0: NVIDIA H200, GPU-6b6e4d3c-..., 139.8 GiB"
std::string gpu_line(const Gpu& gpu);

}  // namespace assay::cuda
