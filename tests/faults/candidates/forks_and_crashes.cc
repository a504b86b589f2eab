// assay: {entry: forks_and_crashes, dtype: f32, layout: tt, args: [a, b, out, m, n, k]}
// Its child holds the channel open, so that the channel never tells of the crash.
#include <unistd.h>

#include "right.h"

KERNEL(forks_and_crashes) {
  right(a, b, out, m, n, k);
  if (fork() == 0)
    for (;;) pause();
  *static_cast<volatile int*>(nullptr) = 1;
}
