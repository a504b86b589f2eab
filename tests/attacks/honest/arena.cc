// assay: {entry: arena, dtype: f32, layout: tt, args: [a, b, out, m, n, k]}
// Temporary rows from an arena of std::pmr, on the stack first.
#include <array>
#include <cstddef>
#include <memory_resource>
#include <vector>

#include "honest.h"

KERNEL(arena) {
  std::array<std::byte, 4096> stack;
  std::pmr::monotonic_buffer_resource resource(stack.data(), stack.size());
  for (long i = 0; i < m; ++i) {
    std::pmr::vector<float> row(static_cast<size_t>(n), 0.0F, &resource);
    for (long p = 0; p < k; ++p)
      for (long j = 0; j < n; ++j) row[static_cast<size_t>(j)] += a[i * k + p] * b[p * n + j];
    for (long j = 0; j < n; ++j) out[i * n + j] = row[static_cast<size_t>(j)];
  }
}
