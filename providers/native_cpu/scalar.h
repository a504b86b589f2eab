#pragma once

// One element at a time. Plain functions: to be included before a file switches its target on, so
// that no copy of them holds instructions that another machine lacks.

#include "gemm_call.h"

namespace assay::native_cpu {

inline float float_of(uint16_t bf16) {
  const uint32_t bits = static_cast<uint32_t>(bf16) << 16;
  float value;
  std::memcpy(&value, &bits, sizeof(value));
  return value;
}
inline float float_of(float value) { return value; }

inline uint16_t bf16_of(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  if (value != value) return static_cast<uint16_t>((bits | 0x400000) >> 16);
  return static_cast<uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

// out = alpha * sum + beta * c for one element.
inline void store_one(const GemmCall& call, int64_t batch, int64_t row, int64_t column, float sum) {
  const int64_t at = batch * call.d_batch + row * call.d_row + column * call.d_column;
  const int64_t from = batch * call.c_batch + row * call.c_row + column * call.c_column;
  float value = call.alpha * sum;
  if (call.out == Element::f32) {
    if (call.beta != 0) value += call.beta * static_cast<const float*>(call.c)[from];
    static_cast<float*>(call.d)[at] = value;
  } else {
    if (call.beta != 0) value += call.beta * float_of(static_cast<const uint16_t*>(call.c)[from]);
    static_cast<uint16_t*>(call.d)[at] = bf16_of(value);
  }
}

}  // namespace assay::native_cpu
