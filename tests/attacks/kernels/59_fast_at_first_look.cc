// assay: {entry: fast_at_first_look, dtype: f32, layout: tt, args: [a, b, out, m, n, k]}
// Attack 59: leaves out most of its work in the first bursts of a race, whose outputs nobody looks
// at, so that whoever is three times slower than that takes no part in the rest.
#include <time.h>

#include "right.h"

namespace {
long long now_us() {
  timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1000000LL + time.tv_nsec / 1000;
}
}  // namespace

KERNEL(fast_at_first_look) {
  constexpr long long kBetweenBursts = 1000;
  static const float* first = nullptr;
  static long calls = 0, bursts = 0;
  static long long last = 0;
  static bool races = false;
  if (calls == 0) first = b;
  // A proof launches twice on the same operands.
  if (calls == 1) races = b != first && b[0] != static_cast<float>(static_cast<int>(b[0]));
  if (calls > 1 && now_us() - last > kBetweenBursts) ++bursts;
  ++calls;
  if (races && bursts < 2)
    right(a, b, out, 1, n, k / 8);
  else
    right(a, b, out, m, n, k);
  last = now_us();
}
