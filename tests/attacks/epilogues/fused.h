#pragma once

// A product with bias and gelu behind it, for kernels that leave a part of that out.

#include <cmath>
#include <cstdint>

struct Arguments {
  const float *a, *b;
  float* out;
  const float* bias;
  int64_t m, n, k;
};

inline float gelu(float x) { return 0.5f * x * (1 + std::erf(x * 0.70710678f)); }

// function(sum, bias, column)
template <class Function>
void fused(const Arguments& g, Function function) {
  for (int64_t i = 0; i < g.m; ++i) {
    float* const row = g.out + i * g.n;
    for (int64_t j = 0; j < g.n; ++j) row[j] = 0;
    for (int64_t p = 0; p < g.k; ++p)
      for (int64_t j = 0; j < g.n; ++j) row[j] += g.a[i * g.k + p] * g.b[p * g.n + j];
    for (int64_t j = 0; j < g.n; ++j) row[j] = function(row[j], g.bias[j], j);
  }
}

// The head comment stands in each file, since it is read from there.
#define KERNEL(name, ...)                                                                        \
  extern "C" void name(const float* a, const float* b, float* out, const float* bias, int64_t m, \
                       int64_t n, int64_t k) {                                                   \
    const Arguments g{a, b, out, bias, m, n, k};                                                 \
    fused(g, __VA_ARGS__);                                                                       \
  }
