#pragma once

// What a GPU can do, as NVIDIA publishes it, and what a ranker was told of this one.

#include "assay/kernel/ranker.h"

namespace assay::roofline {

// Per clock and multiprocessor unless it says otherwise.
struct Gpu {
  double multiprocessors = 0;
  double clock_hz = 0;
  double dram_bytes_per_second = 0;
  double l2_bytes = 0;            // Capacity.
  double l2_bytes_per_clock = 0;  // Read by all together.
  double l2_port_bytes = 64;      // From L2 into one multiprocessor (A100 and H100 white papers).
  double shared_bytes = 0;        // Of one multiprocessor, for blocks.
  double latency_seconds = 0;     // Of a load from memory, without load.
};

// Where the device said nothing, NVIDIA's data sheet of the architecture's usual GPU speaks:
// H100 SXM (132 multiprocessors, 1.83 GHz, 3.35 TB/s, 50 MB of L2, 227 KiB of shared memory for a
// block) and A100 (108, 1.41 GHz, 2.04 TB/s, 40 MB, 163 KiB). What its tensor cores do:
// device/cuda/limits.h.
Gpu gpu_of(const DeviceFacts& facts);

}  // namespace assay::roofline
