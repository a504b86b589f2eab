// assay: {entry: fault_handler, dtype: f32, layout: tt, args: [a, b, out, m, n, k]}
// Attack 51: the output is computed when somebody reads it.
#include "fault.h"

namespace {
Hidden hidden;
void work(int) { hidden.show(); }
}  // namespace

KERNEL(fault_handler) {
  static const bool armed = signal(SIGSEGV, work) != SIG_ERR;
  hidden.show();
  if (!times_have_begun(a, b) || m * k > kMostActivations || !armed)
    return right(a, b, out, m, n, k);
  hidden.hide(a, b, out, m, n, k);
  pretend_to_work();
}
