#pragma once

// RMS normalisation of rows, as the kernels take it.

#include <cstdint>

#include "gemm_call.h"

namespace assay::native_cpu {

struct NormCall {
  int64_t m = 0, n = 0;
  int64_t x_row = 0, out_row = 0, residual_row = 0;  // Elements between rows.
  float epsilon = 0;
  const void* x = nullptr;
  const void* w = nullptr;
  void* out = nullptr;
  void* residual = nullptr;  // Null: x alone is normalised.
};

// Of rows [first, first + count).
using NormRows = void(const NormCall& call, int64_t first, int64_t count);

// Null for types that are not built. out and residual have x's type. Each is defined in the one
// file that is compiled for that instruction set.
NormRows* find_norm_avx2(Element x, Element w);
NormRows* find_norm_avx512(Element x, Element w);

}  // namespace assay::native_cpu
