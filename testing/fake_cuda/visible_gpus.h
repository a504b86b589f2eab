#pragma once

// Which of the fake GPUs a process sees.

#include <vector>

#include "assay/device/cuda/abi.h"

namespace fake_cuda {

assay::cuda::abi::Uuid uuid_of(assay::cuda::abi::Device gpu);

// Of `there` GPUs those that CUDA_VISIBLE_DEVICES names, by a UUID or its beginning: all where it
// is not set.
std::vector<assay::cuda::abi::Device> visible_gpus(int there);

}  // namespace fake_cuda
