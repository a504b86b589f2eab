#pragma once

// The kernels of ops/ by the names that backend/env.defaults uses.

#include <cstdint>

// out[m, n] = a[m, k] * b, whose weights lie as [n, k].
using Gemm = void (*)(const float* a, const float* b, float* out, int64_t m, int64_t n, int64_t k);

// Of the environment's HOOK_GEMM; null if no kernel has that name.
Gemm install_hooks();
