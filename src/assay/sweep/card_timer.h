#pragma once

#include "assay/base/result.h"
#include "assay/device/cuda/cuda_device.h"
#include "assay/measure/burst.h"
#include "assay/measure/condition.h"

namespace assay::sweep {

// The card's own clock: its step, and what an empty pair of events reads. read_ns is such that
// measure::launches_per_burst() makes bursts as long as that spacing wants them.
Result<measure::TimerFacts> measure_card_timer(cuda::CudaDevice& device, measure::Spacing spacing);

}  // namespace assay::sweep
