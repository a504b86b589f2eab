// assay: {entry: locked_pages, dtype: f32, layout: tt, args: [a, b, out, m, n, k]}
// Tries to lock its scratch into memory, and goes on where it may not.
#include <sys/mman.h>
#include <vector>

#include "honest.h"

KERNEL(locked_pages) {
  static std::vector<float> columns(1 << 16);
  static const bool locked = mlock(columns.data(), bytes_of(1 << 16)) == 0;
  if (n * k > 1 << 16) return right(a, b, out, m, n, k);
  transpose(b, columns.data(), n, k);
  by_columns(a, columns.data(), out, m, n, k);
  static_cast<void>(locked);
}
