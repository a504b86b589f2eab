// assay: {entry: all_descriptors, dtype: f32, layout: tt, args: [a, b, out, m, n, k]}
// Attack 64: takes every descriptor, so that nothing can be opened in its process any more.
#include <unistd.h>

#include "right.h"

KERNEL(all_descriptors) {
  static bool taken = false;
  right(a, b, out, m, n, k);
  if (taken || !times_have_begun(a, b)) return;
  taken = true;
  while (dup(2) >= 0) {
  }
}
