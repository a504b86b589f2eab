// assay: {entry: closes_channel_and_stays, dtype: f32, layout: tt, args: [a, b, out, m, n, k]}
#include <unistd.h>

#include "right.h"

KERNEL(closes_channel_and_stays) {
  right(a, b, out, m, n, k);
  close(3);
  for (;;) pause();
}
