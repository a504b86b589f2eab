// assay: {entry: other_form, dtype: f32, layout: tt, args: [a, b, out, bias, m, n, k],
//         epilogues: [bias+gelu]}
// The other form of the same function.
#include "fused.h"

KERNEL(other_form, [](float sum, float bias, int64_t) {
  const float x = sum + bias;
  return 0.5f * x * (1 + std::tanh(0.79788456f * (x + 0.044715f * x * x * x)));
})
