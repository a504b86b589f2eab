#pragma once

// What this machine reaches: the ceilings that "% of ceiling" is a share of. Measured in a worker,
// on the cores that kernels use, in the run's window.

#include <vector>

#include "assay/record/environment.h"
#include "assay/tensor/dtype.h"

namespace assay::measure {

// One ceiling as it was measured in slices of time: the second largest of them, so that a glitch of
// a clock is no ceiling, and the largest.
struct Reading {
  Ceiling ceiling;
  double largest = 0;
};

// Of all slices of both.
Reading merge(const Reading& one, const Reading& other);

// "read" (bytes/s, memory read over a buffer of 4 x the last-level cache on huge pages),
// "flops_f64", "flops_f32" and, where the hardware has them, "flops_bf16" (fused multiply-adds or
// dot products in registers, of the widest units, 2 operations each). About `seconds` in all, on
// the calling thread and threads - 1 more.
std::vector<Reading> measure_ceilings(int threads, size_t last_level_cache_bytes, double seconds);

// Of each ceiling the larger value, with the time at which it was measured: a machine that reached
// it once in a run can do so, and a later measurement that is lower says that others were at work.
// Those of `kept` that other threads reached are of other ceilings.
std::vector<Ceiling> larger_of(std::vector<Ceiling> now, const std::vector<Ceiling>& kept);

// No core does a launch in less: operations over the widest units of any x86-64 or arm64 core (two
// of 512 bits; matrix units for 16-bit and 8-bit types) and bytes over two 64-byte loads a cycle,
// at a clock that none reaches. A floor must never be above what a real kernel can do, so it is not
// made of measured ceilings: those sag with the machine's load.
double physics_floor_seconds(double flops, double bytes, DType dtype, int threads);

}  // namespace assay::measure
