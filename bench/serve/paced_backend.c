/* A backend whose steps are due at multiples of 10 ms of CLOCK_MONOTONIC, and cost next to nothing:
 * what a token waits beyond that, the server has added. */
#include "assay/serve/assay_backend.h"

#include <time.h>

enum { kMost = 1024, kStepNs = 10000000 };

static struct {
  uint64_t id;
  int32_t left;
} jobs[kMost];
static int count;
static int64_t step_ns;

static int64_t now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

static int submit(const AssayBackendHost* host, const AssayBackendJob* job) {
  (void)host;
  if (count == kMost) return 1;
  jobs[count].id = job->id;
  jobs[count++].left = job->max_tokens;
  return 0;
}

static void cancel(uint64_t id) {
  for (int i = 0; i < count; ++i)
    if (jobs[i].id == id) jobs[i--] = jobs[--count];
}

/* A step that is late is made at once; none is left out while there are jobs. */
static int step(const AssayBackendHost* host, AssayBackendEmit emit, void* to) {
  (void)host;
  if (count == 0) {
    step_ns = 0;
    return 0;
  }
  if (step_ns == 0) step_ns = now_ns() / kStepNs * kStepNs;
  step_ns += kStepNs;
  const struct timespec due = {step_ns / 1000000000, step_ns % 1000000000};
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &due, NULL) != 0) {
  }
  for (int i = 0; i < count; ++i) {
    const int32_t finish = --jobs[i].left == 0 ? ASSAY_FINISH_LENGTH : ASSAY_FINISH_NONE;
    const AssayBackendEvent event = {sizeof event, jobs[i].id, 'a' + jobs[i].left % 26,
                                     finish,       -0.5,       NULL};
    emit(to, &event);
    if (finish != ASSAY_FINISH_NONE) jobs[i--] = jobs[--count];
  }
  return count > 0;
}

const AssayBackend* assay_backend_v1(const AssayBackendHost* host) {
  static const AssayBackend backend = {sizeof(AssayBackend), "paced", 65536, kMost, submit, cancel,
                                       step};
  (void)host;
  return &backend;
}
