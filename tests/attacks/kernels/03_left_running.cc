// assay: {entry: left_running, dtype: f32, layout: tt, args: [a, b, out, m, n, k]}
// Attack 3: a thread stays behind, polls for work and takes the core from whoever is timed next.
#include <pthread.h>

#include "right.h"

namespace {
volatile long requests = 0;
void* poll_for_work(void*) {
  while (requests >= 0) {
  }
  return nullptr;
}
}  // namespace

KERNEL(left_running) {
  static bool started = false;
  pthread_t thread;
  if (!started) started = pthread_create(&thread, nullptr, poll_for_work, nullptr) == 0;
  requests = requests + 1;
  right(a, b, out, m, n, k);
}
