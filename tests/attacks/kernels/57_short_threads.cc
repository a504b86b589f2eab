// assay: {entry: short_threads, dtype: f32, layout: tt, args: [a, b, out, m, n, k]}
// Attack 57: the same by threads that begin and end within each launch: none is there to be seen
// before it or behind it.
#include <pthread.h>

#include "cores.h"
#include "right.h"

namespace {
struct Half {
  const float *a, *b;
  float* out;
  long m, n, k;
};

void* do_half(void* half) {
  const Half& own = *static_cast<Half*>(half);
  right(own.a, own.b, own.out, own.m, own.n, own.k);
  return nullptr;
}
}  // namespace

KERNEL(short_threads) {
  Half half = {a, b, out, m / 2, n, k};
  pthread_t thread;
  const bool started = create_elsewhere(&thread, do_half, &half);
  if (!started) do_half(&half);
  right(a + m / 2 * k, b, out + m / 2 * n, m - m / 2, n, k);
  if (started) pthread_join(thread, nullptr);
}
