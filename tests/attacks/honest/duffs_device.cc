// assay: {entry: duffs_device, dtype: f32, layout: tt, args: [a, b, out, m, n, k]}
// Unrolled by hand, with a switch into the loop.
#include "honest.h"

KERNEL(duffs_device) {
  if (k == 0) return right(a, b, out, m, n, k);
  for (long i = 0; i < m; ++i)
    for (long j = 0; j < n; ++j) {
      float sum = 0;
      const float *row = a + i * k, *column = b + j;
      long turns = (k + 3) / 4;
      const auto step = [&] {
        sum += *row++ * *column;
        column += n;
      };
      switch (k % 4) {
        do {
          case 0:
            step();
            [[fallthrough]];
          case 3:
            step();
            [[fallthrough]];
          case 2:
            step();
            [[fallthrough]];
          case 1:
            step();
        } while (--turns > 0);
      }
      out[i * n + j] = sum;
    }
}
