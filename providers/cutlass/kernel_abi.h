#pragma once

// What a compiled configuration offers: the file that is compiled begins with this text, and the
// provider that maps the object reads it too.

#include <cstdint>

namespace assay_cutlass {

constexpr uint32_t kVersion = 1;

// Elements from one to the next.
struct Strides {
  int64_t row, column, batch;
};

// As CUTLASS sees it: D (m x n, column-major) = alpha A (m x k) B (k x n) + beta C.
struct Problem {
  int64_t m, n, k, batches;
  Strides a, b, c, d;
  double alpha, beta;
  int32_t raster;  // 0: as CUTLASS chooses, 1: along m, 2: along n.
  int32_t swizzle, splits;
};

struct Pointers {
  const void* a;
  const void* b;
  const void* c;  // Null where it is not read.
  void* d;
  void* workspace;
};

// Codes are 0 for success, those of CUDA below 1000, and 1000 + cutlass::Status.
struct Kernel {
  uint32_t version, bytes;  // kVersion; sizeof(Kernel).
  uint64_t state_bytes, state_alignment;
  int32_t stages, threads, shared_bytes, accumulators;  // accumulators: registers of a thread.

  int (*can_implement)(const Problem* problem, const Pointers* pointers);
  uint64_t (*workspace_bytes)(const Problem* problem);
  // What a launch needs, tensor maps included, made once for these pointers into `state`. The GPU
  // is the current context's.
  int (*initialize)(const Problem* problem, const Pointers* pointers, void* state);
  // Enqueues; the workspace may hold anything. `stream` is a CUstream.
  int (*run)(void* state, void* stream);
  const char* (*message)(int code);
};

}  // namespace assay_cutlass

extern "C" const assay_cutlass::Kernel* assay_cutlass_kernel();
