// assay: {entry: prefetched_sets, dtype: f32, layout: tt, args: [a, b, out, m, n, k]}
// Attack 32: asks for the other operands that it knows, for as long as these prefetches cost
// next to nothing: what comes next might then be warm.
#include "right.h"

KERNEL(prefetched_sets) {
  constexpr int kMost = 256, kLines = 8;
  static const float* seen[kMost];
  static int count = 0, next = 0;
  right(a, b, out, m, n, k);
  if (!times_have_begun(a, b)) return;
  int own = 0;
  while (own < count && seen[own] != b) ++own;
  if (own == count && own < kMost) seen[count++] = b;
  // The one that has rested longest, most likely.
  next = (next + 1) % count;
  for (long at = 0; at < kLines * 16 && at < k * n; at += 16)
    __builtin_prefetch(seen[next] + at, 0, 2);
}
