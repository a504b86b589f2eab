// assay: {entry: processor_asked, dtype: f32, layout: tt, args: [a, b, out, m, n, k]}
// Asks the processor what it is by cpuid and xgetbv, at the first launch.
#include <cpuid.h>
#include <immintrin.h>

#include "honest.h"

namespace {
bool has_avx_state() {
  unsigned a, b, c, d;
  if (__get_cpuid(1, &a, &b, &c, &d) == 0 || (c & bit_OSXSAVE) == 0) return false;
  unsigned low, high;
  asm volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return (low & 6) == 6;
}
}  // namespace

KERNEL(processor_asked) {
  static const bool wide = has_avx_state();
  const long block = wide ? 8 : 4;
  for (long i = 0; i < m; i += block) {
    const long rows = i + block < m ? block : m - i;
    right(a + i * k, b, out + i * n, rows, n, k);
  }
}
