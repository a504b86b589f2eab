// assay: {entry: half_of_it, dtype: f32, layout: tt, args: [a, b, out, bias, m, n, k],
//         epilogues: [bias+gelu]}
// The epilogue of half of the columns.
#include "fused.h"

KERNEL(half_of_it,
       [=](float sum, float bias, int64_t j) { return j < n / 2 ? gelu(sum + bias) : sum; })
