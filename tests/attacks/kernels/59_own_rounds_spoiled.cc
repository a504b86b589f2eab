// assay: {entry: own_rounds_spoiled, dtype: f32, layout: tt, args: [a, b, out, m, n, k]}
// Attack 59: does its work twice in every third launch, and sees to it that those do not count: a
// thread of its own keeps it waiting for the core meanwhile.
#include <ctime>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>

#include "right.h"

namespace {
sem_t wanted;
volatile bool over = true;

void* take_the_core(void*) {
  for (;;) {
    sem_wait(&wanted);
    while (!over) {
    }
  }
}
}  // namespace

KERNEL(own_rounds_spoiled) {
  static pthread_t thread;
  static long launches = 0;
  static const bool started =
      sem_init(&wanted, 0, 0) == 0 && pthread_create(&thread, nullptr, take_the_core, nullptr) == 0;
  right(a, b, out, m, n, k);
  if (!started || ++launches % 3 != 0) return;
  over = false;
  sem_post(&wanted);
  for (int turn = 0; turn < 20; ++turn) sched_yield();
  right(a, b, out, m, n, k);
  over = true;
}
