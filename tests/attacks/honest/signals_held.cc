// assay: {entry: signals_held, dtype: f32, layout: tt, args: [a, b, out, m, n, k]}
// Holds all signals while it works, so that none interrupts it, and lets them in again.
#include <csignal>

#include "honest.h"

KERNEL(signals_held) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, &before);
  right(a, b, out, m, n, k);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}
