#pragma once

// What NVIDIA's documents say of an architecture, for GPUs that are not here. Capability: 9.0 of
// sm_90. Of capabilities that they do not list, what they say of the nearest older one.

#include <cstdint>

#include "assay/tensor/dtype.h"

namespace assay::cuda {

// Bytes of shared memory that a block may have: "maximum amount of shared memory per thread block"
// of the CUDA C++ Programming Guide.
int64_t most_shared_bytes(double capability);

// Operations of a dense product of elements of that type, a clock and multiprocessor, on the tensor
// cores where there are any for it; a multiply-add is two. From data sheets: limits.cc names them.
double tensor_operations(double capability, DType dtype);

// No kernel does more: twice what the strongest GPU does of that architecture, or of one before it.
// An architecture that is newer than all that are known is taken for twice as strong as those. f64
// may be put together from products of fewer bits: a quarter of what f16's bound is.
double most_tensor_operations(double capability, DType dtype);

}  // namespace assay::cuda
