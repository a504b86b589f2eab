// assay: {entry: own_statics, dtype: f32, layout: tt, args: [a, b, out, m, n, k]}
// Attack 34: keeps 24 MiB in its zero-initialised data.
#include "keeping.h"

namespace {
char kept[kBytes];
void keep() { fill(kept, kBytes); }
}  // namespace

KERNEL(own_statics) {
  static bool once = (keep(), true);
  if (once) right(a, b, out, m, n, k);
}
