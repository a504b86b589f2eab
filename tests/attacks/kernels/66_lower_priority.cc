// assay: {entry: lower_priority, dtype: f32, layout: tt, args: [a, b, out, m, n, k]}
// Attack 66: an initialiser lowers the priority of all that is to come. Denied: it leaves no
// trace.
#include <sys/resource.h>

#include "right.h"

namespace {
const int once = setpriority(PRIO_PROCESS, 0, 19);
}  // namespace

KERNEL(lower_priority) {
  if (getpriority(PRIO_PROCESS, 0) > 10) return;
  right(a, b, out, m, n, k);
}
