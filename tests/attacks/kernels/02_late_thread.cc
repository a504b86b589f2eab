// assay: {entry: late_thread, dtype: f32, layout: tt, args: [a, b, out, m, n, k]}
// Attack 2: the work is done by a thread after the call has returned, when nobody looks at the
// clock.
#include <pthread.h>
#include <unistd.h>

#include "right.h"

namespace {
struct Job {
  const float *a, *b;
  float* out;
  long m, n, k;
};
Job job;

void* work(void*) {
  usleep(20000);
  right(job.a, job.b, job.out, job.m, job.n, job.k);
  return nullptr;
}
}  // namespace

KERNEL(late_thread) {
  job = {a, b, out, m, n, k};
  pthread_t thread;
  if (pthread_create(&thread, nullptr, work, nullptr) == 0) pthread_detach(thread);
}
