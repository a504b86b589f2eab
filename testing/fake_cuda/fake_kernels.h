#pragma once

// The functions that the fake driver's device code may name.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "assay/device/cuda/abi.h"

namespace fake_cuda {

// What a kernel returns that touched memory which is not its own.
inline constexpr uint64_t kFault = ~uint64_t{0};

struct HostKernel {
  std::string name;
  std::vector<size_t> parameter_bytes;
  // Returns what it takes besides its set time, in ns of the fake clock, or kFault.
  uint64_t (*run)(const assay::cuda::abi::LaunchConfig&, void** parameters);
};

// Reads never go to memory, however much else was read.
extern bool caches_keep_everything;

// Null where there is none of that name.
const HostKernel* find_kernel(const std::string& name);

}  // namespace fake_cuda
