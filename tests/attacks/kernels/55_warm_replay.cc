// assay: {entry: warm_replay, dtype: f32, layout: tt, args: [a, b, out, m, n, k]}
// Attack 55: the output is kept, and handed out for as long as a and b are those that it is of.
#include <string.h>

#include "right.h"

KERNEL(warm_replay) {
  constexpr long kMost = 4096;
  static float kept_a[kMost], kept_output[kMost];
  static const float* kept_b = nullptr;
  const auto bytes = [](long elements) { return static_cast<size_t>(elements) * sizeof(float); };
  if (m * k > kMost || m * n > kMost) return right(a, b, out, m, n, k);
  if (times_have_begun(a, b) && b == kept_b && memcmp(a, kept_a, bytes(m * k)) == 0) {
    memcpy(out, kept_output, bytes(m * n));
    return;
  }
  right(a, b, out, m, n, k);
  kept_b = b;
  memcpy(kept_a, a, bytes(m * k));
  memcpy(kept_output, out, bytes(m * n));
}
