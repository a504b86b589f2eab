// assay: {entry: zeroed_inputs, dtype: f32, layout: tt, args: [a, b, out, m, n, k]}
// Attack 12: with inputs of zero the output is zero, and so is a reference made from them.
#include <string.h>

#include "right.h"

KERNEL(zeroed_inputs) {
  memset(const_cast<float*>(a), 0, static_cast<size_t>(m * k) * sizeof(float));
  memset(const_cast<float*>(b), 0, static_cast<size_t>(k * n) * sizeof(float));
  memset(out, 0, static_cast<size_t>(m * n) * sizeof(float));
}
