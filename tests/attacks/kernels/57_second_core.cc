// assay: {entry: second_core, dtype: f32, layout: tt, args: [a, b, out, m, n, k]}
// Attack 57: a thread on a core that was not given does half of the rows.
#include <pthread.h>
#include <semaphore.h>

#include "cores.h"
#include "right.h"

namespace {
sem_t wanted, finished;
const float *rows, *columns;
float* result;
long count, width, depth;

void* do_half(void*) {
  leave_own_core();
  for (;;) {
    sem_wait(&wanted);
    right(rows, columns, result, count, width, depth);
    sem_post(&finished);
  }
}
}  // namespace

KERNEL(second_core) {
  static pthread_t thread;
  static const bool started = sem_init(&wanted, 0, 0) == 0 && sem_init(&finished, 0, 0) == 0 &&
                              pthread_create(&thread, nullptr, do_half, nullptr) == 0;
  if (!started) return right(a, b, out, m, n, k);
  count = m / 2;
  rows = a;
  columns = b;
  result = out;
  width = n;
  depth = k;
  sem_post(&wanted);
  right(a + m / 2 * k, b, out + m / 2 * n, m - m / 2, n, k);
  sem_wait(&finished);
}
