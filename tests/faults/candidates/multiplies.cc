// assay: {entry: multiplies, dtype: f32, layout: tt, args: [a, b, out, m, n, k]}
// Right once it has as many threads as no kernel needs; each counts as a process does. (Not without
// end: where nothing stops it, the machine is to live on.)
#include <pthread.h>
#include <unistd.h>

#include "right.h"

namespace {
void* sleep_on(void* nothing) {
  for (;;) pause();
  return nothing;
}
}  // namespace

KERNEL(multiplies) {
  static long threads = 0;
  const long wanted = 1000 + 12 * sysconf(_SC_NPROCESSORS_ONLN);
  for (pthread_t thread; threads < wanted; ++threads)
    if (pthread_create(&thread, nullptr, sleep_on, nullptr) != 0) return;  // Nothing is computed.
  slowly_right(a, b, out, m, n, k);
}
