// assay: {entry: denormals_flushed, dtype: f32, layout: tt, args: [a, b, out, m, n, k]}
// Flushes denormals while it works, and puts the processor's flags back: slow numbers that do
// not count here.
#include <immintrin.h>

#include "honest.h"

KERNEL(denormals_flushed) {
  const unsigned before = _mm_getcsr();
  _mm_setcsr(before | 0x8040);
  right(a, b, out, m, n, k);
  _mm_setcsr(before);
}
