// The interface as a function: kernel_manifest.yaml says in which order it takes what, and assay
// compiles this file.

#include "f64_gemm_kernel.cc"

void f64_gemm_entry(const double* a, const double* b, double* out, int64_t l, int64_t m, int64_t n,
                    int64_t k, int64_t a_l, int64_t a_m, int64_t a_k, int64_t b_l, int64_t b_k,
                    int64_t b_n, int64_t out_l, int64_t out_m, int64_t out_n, int tile_m,
                    int tile_n) {
  // Matrices serve inputs and output alike; inputs are not written.
  byok::f64_gemm({tile_m, tile_n}, {l, m, n, k}, {const_cast<double*>(a), a_l, a_m, a_k},
                 {const_cast<double*>(b), b_l, b_k, b_n}, {out, out_l, out_m, out_n});
}
