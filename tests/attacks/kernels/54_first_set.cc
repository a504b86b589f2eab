// assay: {entry: first_set, dtype: f32, layout: tt, args: [a, b, out, m, n, k]}
// Attack 54: a copy of the first b that is timed is kept, in a cache, and read instead of each b
// that has the same numbers in a few places.
#include <string.h>

#include "right.h"

KERNEL(first_set) {
  constexpr long kMost = 1 << 20;
  static float kept[kMost];
  static bool any = false;
  if (k * n > kMost || !times_have_begun(a, b)) return right(a, b, out, m, n, k);
  if (!any) memcpy(kept, b, static_cast<size_t>(k * n) * sizeof(float));
  any = true;
  bool same = true;
  for (long i = 0; i < 16; ++i) same = same && b[i * 7919 % (k * n)] == kept[i * 7919 % (k * n)];
  right(a, same ? kept : b, out, m, n, k);
}
