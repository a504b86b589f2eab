#pragma once

// What a kernel should compute: row-major out = a * b.
inline void right(const float* a, const float* b, float* out, long m, long n, long k) {
  for (long i = 0; i < m; ++i) {
    for (long j = 0; j < n; ++j) out[i * n + j] = 0;
    for (long p = 0; p < k; ++p)
      for (long j = 0; j < n; ++j) out[i * n + j] += a[i * k + p] * b[p * n + j];
  }
}

// Right, and too slow to be anywhere near the front.
inline void slowly_right(const float* a, const float* b, float* out, long m, long n, long k) {
  for (int time = 0; time < 5; ++time) {
    right(a, b, out, m, n, k);
    asm volatile("" ::: "memory");
  }
}

#define KERNEL(name) \
  extern "C" void name(const float* a, const float* b, float* out, long m, long n, long k)
