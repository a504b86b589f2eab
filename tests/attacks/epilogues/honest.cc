// assay: {entry: honest, dtype: f32, layout: tt, args: [a, b, out, bias, m, n, k],
//         epilogues: [bias+gelu]}
// What was asked for.
#include "fused.h"

KERNEL(honest, [](float sum, float bias, int64_t) { return gelu(sum + bias); })
