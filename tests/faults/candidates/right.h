#pragma once

// What a kernel should compute: row-major out = a * b.
inline void right(const float* a, const float* b, float* out, long m, long n, long k) {
  for (long i = 0; i < m; ++i) {
    for (long j = 0; j < n; ++j) out[i * n + j] = 0;
    for (long p = 0; p < k; ++p)
      for (long j = 0; j < n; ++j) out[i * n + j] += a[i * k + p] * b[p * n + j];
  }
}

#define KERNEL(name) \
  extern "C" void name(const float* a, const float* b, float* out, long m, long n, long k)
