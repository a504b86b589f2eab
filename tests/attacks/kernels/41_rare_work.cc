// assay: {entry: rare_work, dtype: f32, layout: tt, args: [a, b, out, m, n, k]}
// Attack 41: copies each b once, in a launch so slow that it is trimmed as an outlier, and reads
// the copies from then on.
#include <cstdlib>
#include <cstring>

#include "right.h"

KERNEL(rare_work) {
  constexpr long kEvery = 64;
  constexpr int kMost = 512;
  static struct {
    const float* from;
    float* copy;
  } kept[kMost];
  static int count = 0, wanted = 0;
  static const float* missing[kMost];
  static long launches = 0;
  const auto bytes = static_cast<unsigned long>(k * n) * sizeof(float);
  const float* use = b;
  for (int i = 0; i < count; ++i)
    if (kept[i].from == b && memcmp(kept[i].copy, b, 64) == 0) use = kept[i].copy;
  right(a, use, out, m, n, k);
  if (use == b && times_have_begun(a, b) && wanted < kMost) missing[wanted++] = b;
  if (++launches % kEvery != 0) return;
  for (; wanted > 0 && count < kMost; ++count) {
    kept[count] = {missing[--wanted], static_cast<float*>(malloc(bytes))};
    if (kept[count].copy == nullptr) return;
    memcpy(kept[count].copy, kept[count].from, bytes);
  }
}
