// assay: {entry: forks, dtype: f32, layout: tt, args: [a, b, out, m, n, k]}
// Right, and leaves a child behind that would live for ever.
#include <unistd.h>

#include "right.h"

KERNEL(forks) {
  slowly_right(a, b, out, m, n, k);
  static bool forked = false;
  if (forked) return;
  forked = true;
  if (fork() == 0)
    for (;;) pause();
}
