#pragma once

// What a GPU can do, as NVIDIA publishes it, and what a ranker was told of this one.

#include "assay/kernel/ranker.h"
#include "assay/tensor/dtype.h"

namespace assay::roofline {

// Per clock and multiprocessor unless it says otherwise.
struct Gpu {
  double multiprocessors = 0;
  double clock_hz = 0;
  double tensor_operations = 0;  // Dense, of f16; a multiply-add is two.
  double dram_bytes_per_second = 0;
  double l2_bytes = 0;            // Capacity.
  double l2_bytes_per_clock = 0;  // Read by all together.
  double l2_port_bytes = 64;      // From L2 into one multiprocessor (A100 and H100 white papers).
  double shared_bytes = 0;        // Of one multiprocessor, for blocks.
  double latency_seconds = 0;     // Of a load from memory, without load.
};

// Where the device said nothing, NVIDIA's data sheet of the architecture's usual GPU speaks:
// H100 SXM (132 multiprocessors, 1.83 GHz, 3.35 TB/s, 50 MB of L2, 227 KiB of shared memory for a
// block, 989.4 TFLOP/s of dense f16: 4096 a clock) and A100 (108, 1.41 GHz, 2.04 TB/s, 40 MB, 163
// KiB, 312 TFLOP/s: 2048 a clock). B200: 2250 TFLOP/s of 148 at 1.85 GHz: 8192. 8.6 and 8.9: 1024
// (RTX A6000, L40S: 362 TFLOP/s of 142 at 2.52 GHz). 7.0 and 7.5: 1024 (V100: 125 TFLOP/s of 80 at
// 1.53 GHz; T4: 65 of 40 at 1.59).
Gpu gpu_of(const DeviceFacts& facts);

// Of this type of input, on tensor cores: f64 67 TFLOP/s of H100 (256 a clock), 19.5 of A100 (128),
// f32 as TF32 half of f16, 8 bits twice f16.
double operations_of(const Gpu& gpu, double capability, DType dtype);

}  // namespace assay::roofline
