// assay: {entry: blocked_signals, dtype: f32, layout: tt, args: [a, b, out, m, n, k]}
// Attack 66: an initialiser blocks all signals, for all threads to come.
#include <csignal>

#include "right.h"

namespace {
int block() {
  sigset_t all;
  sigfillset(&all);
  return pthread_sigmask(SIG_BLOCK, &all, nullptr);
}
const int once = block();
}  // namespace

KERNEL(blocked_signals) { right(a, b, out, m, n, k); }
