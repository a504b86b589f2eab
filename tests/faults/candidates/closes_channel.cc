// assay: {entry: closes_channel, dtype: f32, layout: tt, args: [a, b, out, m, n, k]}
#include <unistd.h>

#include "right.h"

KERNEL(closes_channel) {
  slowly_right(a, b, out, m, n, k);  // A call that is denied costs next to nothing.
  close(3);
}
