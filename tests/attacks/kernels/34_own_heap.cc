// assay: {entry: own_heap, dtype: f32, layout: tt, args: [a, b, out, m, n, k]}
// Attack 34: keeps 24 MiB on the heap.
#include "keeping.h"

namespace {
void keep() {
  for (int i = 0; i < 1024; ++i) fill(malloc(kBytes / 1024), kBytes / 1024);
}
}  // namespace

KERNEL(own_heap) {
  static bool once = (keep(), true);
  if (once) right(a, b, out, m, n, k);
}
