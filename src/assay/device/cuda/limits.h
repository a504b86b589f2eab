#pragma once

// What NVIDIA's documents say of an architecture, for GPUs that are not here.

#include <cstdint>

namespace assay::cuda {

// Bytes of shared memory that a block may have, by compute capability (9.0 of sm_90): "maximum
// amount of shared memory per thread block" of the CUDA C++ Programming Guide. Of capabilities that
// it does not list, that of the nearest older one.
int64_t most_shared_bytes(double capability);

}  // namespace assay::cuda
