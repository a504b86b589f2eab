// assay: {entry: one_launch_of_many, dtype: f32, layout: tt, args: [a, b, out, m, n, k]}
// Attack 8: of each long burst one launch is left out. A burst is known by its launches following
// one another at once.
#include <x86intrin.h>

#include "right.h"

KERNEL(one_launch_of_many) {
  constexpr unsigned long long kGap = 20'000;
  constexpr int kLeftOut = 9;
  static unsigned long long last = 0;
  static int in_row = 0;
  in_row = __rdtsc() - last > kGap ? 0 : in_row + 1;
  if (in_row != kLeftOut) right(a, b, out, m, n, k);
  last = __rdtsc();
}
