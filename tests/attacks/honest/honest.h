#pragma once

// What honest kernels share: a product by its rows, and their inner loops.

#include <cstddef>

#include "../kernels/right.h"

struct Product {
  const float *a, *b;
  float* out;
  long m, n, k;

  void rows(long first, long last) const {
    if (first < last) right(a + first * k, b, out + first * n, last - first, n, k);
  }
};

// Columns of b as rows: entry p of column j lies at j * k + p.
inline void transpose(const float* b, float* columns, long n, long k) {
  for (long p = 0; p < k; ++p)
    for (long j = 0; j < n; ++j) columns[j * k + p] = b[p * n + j];
}

// By inner products of a's rows with columns that lie contiguously.
inline void by_columns(const float* a, const float* columns, float* out, long m, long n, long k) {
  for (long i = 0; i < m; ++i)
    for (long j = 0; j < n; ++j) {
      float sum = 0;
      for (long p = 0; p < k; ++p) sum += a[i * k + p] * columns[j * k + p];
      out[i * n + j] = sum;
    }
}

inline size_t bytes_of(long floats) { return static_cast<size_t>(floats) * sizeof(float); }
