// assay: {entry: own_pipes, dtype: f32, layout: tt, args: [a, b, out, m, n, k]}
// Attack 34: keeps 24 MiB in pipes.
#include "keeping.h"

namespace {
void keep() {
  static char block[1 << 20];
  for (size_t at = 0; at < kBytes; at += sizeof block) {
    int ends[2];
    if (pipe2(ends, O_NONBLOCK) != 0) return;
    fcntl(ends[1], F_SETPIPE_SZ, sizeof block);
    (void)!write(ends[1], block, sizeof block);
  }
}
}  // namespace

KERNEL(own_pipes) {
  static bool once = (keep(), true);
  if (once) right(a, b, out, m, n, k);
}
