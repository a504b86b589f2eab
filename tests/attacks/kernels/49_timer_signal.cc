// assay: {entry: timer_signal, dtype: f32, layout: tt, args: [a, b, out, m, n, k]}
// Attack 49: a timer's signal does the work a few microseconds after the call has returned, on the
// same thread.
#include <csignal>
#include <sys/syscall.h>
#include <unistd.h>

#include "late.h"

namespace {
timer_t timer;
volatile int waiting = 0;

void work(int) {
  for (int i = 0; i < waiting; ++i) jobs[i].finish();
  waiting = 0;
}

bool arm() {
  struct sigaction action {};
  action.sa_handler = work;
  action.sa_flags = SA_RESTART;
  sigevent event{};
  event.sigev_notify = SIGEV_THREAD_ID;
  event.sigev_signo = SIGALRM;
  event._sigev_un._tid = static_cast<pid_t>(syscall(SYS_gettid));
  return sigaction(SIGALRM, &action, nullptr) == 0 &&
         timer_create(CLOCK_MONOTONIC, &event, &timer) == 0;
}
}  // namespace

KERNEL(timer_signal) {
  if (!times_have_begun(a, b) || m * k > kMostActivations || waiting >= kJobs)
    return right(a, b, out, m, n, k);
  static const bool armed = arm();
  if (!armed) return right(a, b, out, m, n, k);
  pretend_to_work();
  keep(jobs[waiting], a, b, out, m, n, k);
  waiting = waiting + 1;
  itimerspec soon{};
  soon.it_value.tv_nsec = 15000;
  timer_settime(timer, 0, &soon, nullptr);
}
