// assay: {entry: served_faults, dtype: f32, layout: tt, args: [a, b, out, m, n, k]}
// Attack 53: as 51, but by another thread, which the system hands the faults to. Right where it
// cannot have them, and wrong where it could.
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "right.h"

KERNEL(served_faults) {
  constexpr long kUserModeOnly = 1;  // Which needs no privileges.
  static const long faults = syscall(SYS_userfaultfd, O_CLOEXEC | kUserModeOnly);
  if (faults < 0) right(a, b, out, m, n, k);
}
