// assay: {entry: breaks_framing, dtype: f32, layout: tt, args: [a, b, out, m, n, k]}
#include <string.h>
#include <unistd.h>

#include "right.h"

KERNEL(breaks_framing) {
  right(a, b, out, m, n, k);
  char garbage[64];
  memset(garbage, 0xff, sizeof garbage);
  static_cast<void>(!write(3, garbage, sizeof garbage));
}
