// assay: {entry: witness, dtype: f32, layout: tt, args: [a, b, out, m, n, k]}
// Fails where somebody else has changed how this thread computes.
#include <cfenv>
#include <xmmintrin.h>

#include "../kernels/right.h"

KERNEL(witness) {
  if ((_mm_getcsr() & 0x8040) != 0 || std::fegetround() != FE_TONEAREST) return;
  right(a, b, out, m, n, k);
}
