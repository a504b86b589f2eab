// assay: {entry: environment_read, dtype: f32, layout: tt, args: [a, b, out, m, n, k]}
// Asks the environment for its block size, as many libraries do.
#include <algorithm>
#include <cstdlib>

#include "honest.h"

KERNEL(environment_read) {
  static const char* const given = std::getenv("MY_GEMM_BLOCK");
  static const long block = std::clamp(given == nullptr ? 4L : std::atol(given), 1L, 64L);
  const Product product{a, b, out, m, n, k};
  for (long i = 0; i < m; i += block) product.rows(i, std::min(i + block, m));
}
