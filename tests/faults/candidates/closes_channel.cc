// assay: {entry: closes_channel, dtype: f32, layout: tt, args: [a, b, out, m, n, k]}
#include <unistd.h>

#include "right.h"

KERNEL(closes_channel) {
  right(a, b, out, m, n, k);
  close(3);
}
