#pragma once

#include <string_view>

namespace assay {

// What tells a CUDA driver which GPUs to show, and so pins a process to one: its value is a UUID.
// https://docs.nvidia.com/cuda/cuda-c-programming-guide, CUDA environment variables
inline constexpr std::string_view kVisibleGpus = "CUDA_VISIBLE_DEVICES";

}  // namespace assay
