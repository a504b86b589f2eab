#pragma once

#include "assay/device/device_facts.h"
#include "assay/tensor/dtype.h"

namespace assay::measure {

// No launch takes less. Bytes: of cold operands alone, and half of them, since a cache that
// operands rotate through three times over may still hold a third of them. Operations: of dense
// tensor instructions, by the bound of device/cuda/limits.h. In a chain a kernel may do part of its
// work beside our own, which is subtracted: 6 us less. 0 where the GPU told nothing.
double gpu_floor_seconds(double flops, double cold_bytes, DType dtype, const DeviceFacts& gpu,
                         bool chained);

}  // namespace assay::measure
