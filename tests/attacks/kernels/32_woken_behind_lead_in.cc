// assay: {entry: woken_behind_lead_in, dtype: f32, layout: tt, args: [a, b, out, m, n, k]}
// Attack 32: the lone launch that nobody times wakes a thread. It reads every b that was seen
// before while the harness waits for threads to rest, so that none of those that follow is cold.
#include <pthread.h>
#include <semaphore.h>

#include <x86intrin.h>

#include "right.h"

namespace {
constexpr int kMost = 256;
const float* seen[kMost];
int count = 0;
long elements = 0;
sem_t wanted;

void* read_all(void*) {
  for (;;) {
    sem_wait(&wanted);
    for (int i = 0; i < count; ++i)
      for (long at = 0; at < elements; at += 16) asm volatile("" : : "x"(seen[i][at]));
  }
}
}  // namespace

KERNEL(woken_behind_lead_in) {
  constexpr unsigned long long kPause = 30'000;  // Cycles: longer than between two launches.
  static pthread_t thread;
  static const bool started =
      sem_init(&wanted, 0, 0) == 0 && pthread_create(&thread, nullptr, read_all, nullptr) == 0;
  static long run = 0;
  static unsigned long long last = 0;
  bool untimed = false;
  if (__rdtsc() - last > kPause) {
    untimed = run != 1;
    run = 0;
  }
  ++run;
  int own = 0;
  while (own < count && seen[own] != b) ++own;
  if (own == count && own < kMost && times_have_begun(a, b)) seen[count++] = b;
  right(a, b, out, m, n, k);
  elements = k * n;
  if (started && untimed && count > 0) sem_post(&wanted);
  last = __rdtsc();
}
