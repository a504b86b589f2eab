// assay: {entry: standard_algorithms, dtype: f32, layout: tt, args: [a, b, out, m, n, k]}
// Inner products by the standard library, over ranges and strides of its own.
#include <numeric>
#include <ranges>
#include <vector>

#include "honest.h"

KERNEL(standard_algorithms) {
  std::vector<float> columns(static_cast<size_t>(n * k));
  transpose(b, columns.data(), n, k);
  for (const long i : std::views::iota(0L, m))
    for (const long j : std::views::iota(0L, n))
      out[i * n + j] = std::inner_product(a + i * k, a + (i + 1) * k, columns.data() + j * k, 0.0F);
}
