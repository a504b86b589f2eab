// assay: {entry: aligned_per_launch, dtype: f32, layout: tt, args: [a, b, out, m, n, k]}
// Aligned memory that each launch takes and gives back.
#include <cstdlib>

#include "honest.h"

KERNEL(aligned_per_launch) {
  auto* const columns =
      static_cast<float*>(std::aligned_alloc(64, (bytes_of(n * k) + 63) / 64 * 64));
  if (columns == nullptr) return right(a, b, out, m, n, k);
  transpose(b, columns, n, k);
  by_columns(a, columns, out, m, n, k);
  std::free(columns);
}
