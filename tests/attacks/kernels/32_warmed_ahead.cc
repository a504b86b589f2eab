// assay: {entry: warmed_ahead, dtype: f32, layout: tt, args: [a, b, out, m, n, k]}
// Attack 32: a burst comes behind a lone launch that nobody times. In that one every b that was
// seen before is read, so that none of those that follow is cold.
#include <x86intrin.h>

#include "right.h"

KERNEL(warmed_ahead) {
  constexpr int kMost = 256;
  constexpr unsigned long long kPause = 30'000;  // Cycles: longer than between two launches.
  static const float* seen[kMost];
  static int count = 0;
  static long run = 0;
  static unsigned long long last = 0;
  if (__rdtsc() - last > kPause) {
    const bool timed = run == 1;
    run = 0;
    for (int i = 0; !timed && i < count; ++i)
      for (long at = 0; at < k * n; at += 16) asm volatile("" : : "x"(seen[i][at]));
  }
  ++run;
  int own = 0;
  while (own < count && seen[own] != b) ++own;
  if (own == count && own < kMost && times_have_begun(a, b)) seen[count++] = b;
  right(a, b, out, m, n, k);
  last = __rdtsc();
}
