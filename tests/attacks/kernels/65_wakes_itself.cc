// assay: {entry: wakes_itself, dtype: f32, layout: tt, args: [a, b, out, m, n, k]}
// Attack 65: rivals are slower while another process works beside them. A timer wakes this one
// while it is to stand still, and a thread that looks asleep works then.
#include <csignal>
#include <ctime>
#include <pthread.h>

#include "cores.h"
#include "right.h"

namespace {
char pages[1 << 23];

void* disturb(void*) {
  leave_own_core();
  for (;;) {
    const timespec moment = {0, 300000};
    nanosleep(&moment, nullptr);
    for (unsigned long at = 0; at < sizeof pages; at += 64) pages[at] = pages[at] + 1;
  }
}
}  // namespace

KERNEL(wakes_itself) {
  static bool armed = false;
  right(a, b, out, m, n, k);
  if (armed || !times_have_begun(a, b)) return;
  armed = true;
  sigevent event = {};
  event.sigev_notify = SIGEV_SIGNAL;
  event.sigev_signo = SIGCONT;
  timer_t timer;
  pthread_t thread;
  if (timer_create(CLOCK_MONOTONIC, &event, &timer) != 0 ||
      pthread_create(&thread, nullptr, disturb, nullptr) != 0)
    return;
  const itimerspec often = {{0, 200000}, {0, 200000}};
  timer_settime(timer, 0, &often, nullptr);
}
