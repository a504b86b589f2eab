// assay: {entry: own_file, dtype: f32, layout: tt, args: [a, b, out, m, n, k]}
// Attack 34: keeps 24 MiB in a memory file that it does not map.
#include "keeping.h"

namespace {
void keep() {
  static char block[65536];
  fill(block, sizeof block);
  const int file = memfd_create("kept", 0);
  for (size_t at = 0; at < kBytes; at += sizeof block) (void)!write(file, block, sizeof block);
}
}  // namespace

KERNEL(own_file) {
  static bool once = (keep(), true);
  if (once) right(a, b, out, m, n, k);
}
