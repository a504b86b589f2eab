// assay: {entry: hidden_fault_handler, dtype: f32, layout: tt, args: [a, b, out, m, n, k]}
// Attack 52: as 51, and the handler lets signals in, and leaves all as it was when it has worked.
#include "fault.h"

namespace {
Hidden hidden;
void work(int) {
  hidden.show();
  signal(SIGSEGV, SIG_DFL);
}
}  // namespace

KERNEL(hidden_fault_handler) {
  hidden.show();
  if (!times_have_begun(a, b) || m * k > kMostActivations) return right(a, b, out, m, n, k);
  signal(SIGSEGV, work);
  sigset_t fault;
  sigemptyset(&fault);
  sigaddset(&fault, SIGSEGV);
  pthread_sigmask(SIG_UNBLOCK, &fault, nullptr);
  hidden.hide(a, b, out, m, n, k);
  pretend_to_work();
}
