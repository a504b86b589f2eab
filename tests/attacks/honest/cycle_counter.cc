// assay: {entry: cycle_counter, dtype: f32, layout: tt, args: [a, b, out, m, n, k]}
// Counts the cycles of each launch, and chooses the order of its loops by them for a while.
#include <x86intrin.h>

#include "honest.h"

KERNEL(cycle_counter) {
  static unsigned long long cycles[2] = {};
  static long launches = 0;
  const long way = launches < 64 ? launches % 2 : cycles[1] < cycles[0] ? 1 : 0;
  const unsigned long long start = __rdtsc();
  if (way == 0) {
    right(a, b, out, m, n, k);
  } else {
    for (long i = 0; i < m * n; ++i) out[i] = 0;
    for (long p = 0; p < k; ++p)
      for (long i = 0; i < m; ++i)
        for (long j = 0; j < n; ++j) out[i * n + j] += a[i * k + p] * b[p * n + j];
  }
  cycles[way] += __rdtsc() - start;
  ++launches;
}
