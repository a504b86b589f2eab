#pragma once

// What this machine reaches now: the ceilings that "% of ceiling" is a share of, and from which the
// physics floor is set. Measured in a worker, on the cores that kernels use, in the run's window.

#include <vector>

#include "assay/record/environment.h"

namespace assay::measure {

// "read" (bytes/s, memory read over a buffer of 4 x the last-level cache on huge pages), "flops_f64",
// "flops_f32" and, where the hardware has them, "flops_bf16" (fused multiply-adds or dot products in
// registers, 2 operations each). About `seconds` in all, on the calling thread and threads - 1 more.
std::vector<Ceiling> measure_ceilings(int threads, size_t last_level_cache_bytes, double seconds);

}  // namespace assay::measure
