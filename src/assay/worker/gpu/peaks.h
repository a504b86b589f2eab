#pragma once

// Device code that reaches a GPU's ceilings: PTX, which the driver assembles.

#include <cstdint>
#include <string>
#include <vector>

#include "assay/device/cuda/cuda_device.h"

namespace assay::sweep {

// assay_read(to, from, bytes) reads, assay_copy(to, from, bytes) copies; to and from lie at
// multiples of 16 bytes, and whole 16 bytes of `bytes` are moved. assay_read writes to `to` only if
// the exclusive or of all it read is a number that random data do not make.
std::string traffic_code(const cuda::Gpu& gpu);

// A kernel entry(uint32_t steps, uint64_t nowhere) that does nothing but arithmetic.
struct Peak {
  std::string name;  // "flops_f16".
  std::string entry, code;
  double operations = 0;             // Of one block in one step.
  uint32_t threads = 0, blocks = 0;  // Of a block; of a multiprocessor.
};
std::vector<Peak> gpu_peaks(const cuda::Gpu& gpu);

}  // namespace assay::sweep
