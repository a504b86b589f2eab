// assay: {entry: timer_of_a_thread, dtype: f32, layout: tt, args: [a, b, out, m, n, k]}
// Attack 50: as 49, but the timer wakes another thread, and is gone when that has worked.
#include <csignal>

#include "late.h"

namespace {
timer_t timer;
volatile bool armed = false;
Job& job = jobs[0];

void work(sigval) {
  job.finish();
  timer_delete(timer);
  armed = false;
}
}  // namespace

KERNEL(timer_of_a_thread) {
  if (!times_have_begun(a, b) || m * k > kMostActivations || armed)
    return right(a, b, out, m, n, k);
  sigevent event{};
  event.sigev_notify = SIGEV_THREAD;
  event.sigev_notify_function = work;
  keep(job, a, b, out, m, n, k);
  armed = timer_create(CLOCK_MONOTONIC, &event, &timer) == 0;
  if (!armed) return right(a, b, out, m, n, k);
  itimerspec soon{};
  soon.it_value.tv_nsec = 60000;
  timer_settime(timer, 0, &soon, nullptr);
  pretend_to_work();
}
