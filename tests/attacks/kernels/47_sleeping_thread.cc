// assay: {entry: sleeping_thread, dtype: f32, layout: tt, args: [a, b, out, m, n, k]}
// Attack 47: a thread that sleeps while the clock runs, so that everything seems to be at rest, and
// works before anybody looks.
#include <pthread.h>
#include <semaphore.h>
#include <unistd.h>

#include "late.h"

#ifndef SLEEP_US
#define SLEEP_US 40
#endif

namespace {
sem_t waiting;
pthread_t thread;
volatile int put = 0, done = 0;

void* work(void*) {
  for (;;) {
    sem_wait(&waiting);
    usleep(SLEEP_US);
    for (; done != put; done = done + 1) jobs[done % kJobs].finish();
  }
}
}  // namespace

KERNEL(sleeping_thread) {
  static const bool started =
      sem_init(&waiting, 0, 0) == 0 && pthread_create(&thread, nullptr, work, nullptr) == 0;
  if (!times_have_begun(a, b) || !started || m * k > kMostActivations || put - done > kJobs - 2)
    return right(a, b, out, m, n, k);
  keep(jobs[put % kJobs], a, b, out, m, n, k);
  put = put + 1;
  sem_post(&waiting);
  pretend_to_work();
}
