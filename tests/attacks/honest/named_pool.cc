// assay: {entry: named_pool, dtype: f32, layout: tt, args: [a, b, out, m, n, k]}
// A helper with a name and a stack of its own size, as debuggers like it.
#include <pthread.h>
#include <semaphore.h>

#include "pool.h"

namespace {
sem_t wanted, finished;
Halves halves;

void* help(void*) {
  pthread_setname_np(pthread_self(), "gemm helper");
  for (;;) {
    sem_wait(&wanted);
    halves.upper();
    sem_post(&finished);
  }
}
bool start() {
  pthread_t thread;
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, 1 << 18);
  return sem_init(&wanted, 0, 0) == 0 && sem_init(&finished, 0, 0) == 0 &&
         pthread_create(&thread, &attributes, help, nullptr) == 0;
}
}  // namespace

KERNEL(named_pool) {
  static const bool started = start();
  if (!started) return right(a, b, out, m, n, k);
  halves.product = {a, b, out, m, n, k};
  sem_post(&wanted);
  halves.lower();
  sem_wait(&finished);
}
