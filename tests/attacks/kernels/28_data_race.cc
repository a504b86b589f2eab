// assay: {entry: data_race, dtype: f32, layout: tt, args: [a, b, out, m, n, k]}
// Attack 28: two threads add into the same outputs without a lock.
#include <pthread.h>

#include "right.h"

namespace {
struct Half {
  const float *a, *b;
  float* out;
  long m, n, k, begin, end;
};

void* add(void* argument) {
  const Half& half = *static_cast<Half*>(argument);
  for (long p = half.begin; p < half.end; ++p)
    for (long i = 0; i < half.m; ++i)
      for (long j = 0; j < half.n; ++j) {
        volatile float* to = half.out + i * half.n + j;
        *to = *to + half.a[i * half.k + p] * half.b[p * half.n + j];
      }
  return nullptr;
}
}  // namespace

KERNEL(data_race) {
  for (long i = 0; i < m * n; ++i) out[i] = 0;
  // Of two halves both begin at zero here, so that the race is lost on every machine.
  Half halves[2] = {{a, b, out, m, n, k, 0, k / 2 + 1}, {a, b, out, m, n, k, k / 2, k}};
  pthread_t thread;
  const bool started = pthread_create(&thread, nullptr, add, &halves[0]) == 0;
  if (!started) add(&halves[0]);
  add(&halves[1]);
  if (started) pthread_join(thread, nullptr);
}
