// assay: {entry: own_sockets, dtype: f32, layout: tt, args: [a, b, out, m, n, k]}
// Attack 34: keeps 24 MiB on their way through sockets.
#include "keeping.h"

namespace {
void keep() {
  static char block[1 << 17];
  for (size_t at = 0; at < kBytes; at += sizeof block) {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends) != 0) return;
    (void)!write(ends[1], block, sizeof block);
  }
}
}  // namespace

KERNEL(own_sockets) {
  static bool once = (keep(), true);
  if (once) right(a, b, out, m, n, k);
}
