// assay: {entry: bias_behind, dtype: f32, layout: tt, args: [a, b, out, bias, m, n, k],
//         epilogues: [bias+gelu]}
// Bias and function in the other order.
#include "fused.h"

KERNEL(bias_behind, [](float sum, float bias, int64_t) { return gelu(sum) + bias; })
