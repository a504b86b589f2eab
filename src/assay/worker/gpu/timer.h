#pragma once

#include "assay/base/result.h"
#include "assay/device/cuda/cuda_device.h"
#include "assay/measure/burst.h"

namespace assay::sweep {

// The GPU's own clock: its step, and what an empty pair of events reads. read_ns is such that
// measure::launches_per_burst() makes bursts of 200 us.
Result<measure::TimerFacts> measure_gpu_timer(cuda::CudaDevice& device);

}  // namespace assay::sweep
