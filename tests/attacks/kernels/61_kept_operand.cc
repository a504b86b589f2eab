// assay: {entry: kept_operand, dtype: f32, layout: tt, args: [a, b, out, m, n, k]}
// Attack 61: b is copied once from each place that it comes from, although it is no constant, as
// one would pack it; the copy is used for ever.
#include <string.h>

#include "right.h"

KERNEL(kept_operand) {
  constexpr long kMost = 4096, kPlaces = 128;
  static struct {
    const float* b;
    float copy[kMost];
  } kept[kPlaces];
  static int count = 0;
  if (k * n > kMost || !times_have_begun(a, b)) return right(a, b, out, m, n, k);
  int at = 0;
  while (at < count && kept[at].b != b) ++at;
  if (at == kPlaces) return right(a, b, out, m, n, k);
  if (at == count) {
    kept[count++].b = b;
    memcpy(kept[at].copy, b, static_cast<size_t>(k * n) * sizeof(float));
  }
  right(a, kept[at].copy, out, m, n, k);
}
