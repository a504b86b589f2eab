// assay: {entry: written_by_system, dtype: f32, layout: tt, args: [a, b, out, m, n, k]}
// Attack 62: has the system write to its memory, and other processes'.
#include <sys/uio.h>

#include "patch.h"

namespace {
bool writes() {
  static char from[8] = {1}, to[8] = {};
  const iovec source{from, sizeof from}, target{to, sizeof to};
  return process_vm_writev(getpid(), &source, 1, &target, 1, 0) > 0;
}
}  // namespace

PATCHING_KERNEL(written_by_system, writes())
