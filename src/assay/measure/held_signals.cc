#include "assay/measure/held_signals.h"

namespace assay::measure {

HeldSignals::HeldSignals() {
  // All but two that the C library keeps for itself.
  ::sigfillset(&all_);
  ::pthread_sigmask(SIG_SETMASK, &all_, &before_);
}

HeldSignals::~HeldSignals() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

bool HeldSignals::hold_on() {
  sigset_t found;
  ::pthread_sigmask(SIG_SETMASK, &all_, &found);
  for (int signal = 1; signal <= SIGRTMAX; ++signal) {
    if (signal == SIGKILL || signal == SIGSTOP) continue;  // Which nobody can hold.
    if (::sigismember(&all_, signal) == 1 && ::sigismember(&found, signal) == 0) return false;
  }
  return true;
}

}  // namespace assay::measure
