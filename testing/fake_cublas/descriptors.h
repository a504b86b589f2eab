#pragma once

// What libcublasLt's callers make and describe.

#include <cstddef>
#include <cstdint>

namespace fake_cublas {

struct LtHandle {};

struct Description {
  int compute = 0, scale = 0;
  int transpose_a = 0, transpose_b = 0;
  unsigned epilogue = 1;
  const void* bias = nullptr;
};

struct Layout {
  int type = 0;
  uint64_t rows = 0, columns = 0;
  int64_t leading = 0;
  int batches = 1;
  int64_t stride = 0;
};

// The documented defaults.
struct Preference {
  uint64_t most_workspace = 0;
  uint32_t alignment[4] = {256, 256, 256, 256};  // Of A, B, C and D.
};

}  // namespace fake_cublas
