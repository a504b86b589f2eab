// assay: {entry: all_batches, dtype: f32, layout: tt, args: [a, b, out, bias, m, n, k, l],
//         epilogues: [bias+gelu]}
#include "fused.h"

extern "C" void all_batches(const float* a, const float* b, float* out, const float* bias,
                            int64_t m, int64_t n, int64_t k, int64_t l) {
  for (int64_t i = 0; i < l; ++i) {
    const Arguments g{a + i * m * k, b + i * k * n, out + i * m * n, bias, m, n, k};
    fused(g, [](float sum, float to_add, int64_t) { return gelu(sum + to_add); });
  }
}
