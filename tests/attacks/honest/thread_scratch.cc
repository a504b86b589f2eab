// assay: {entry: thread_scratch, dtype: f32, layout: tt, args: [a, b, out, m, n, k]}
// Scratch of each thread, by thread_local.
#include <thread>
#include <vector>

#include "honest.h"

namespace {
void row(const Product& product, long i) {
  thread_local std::vector<double> sums;
  sums.assign(static_cast<size_t>(product.n), 0.0);
  for (long p = 0; p < product.k; ++p)
    for (long j = 0; j < product.n; ++j)
      sums[static_cast<size_t>(j)] +=
          static_cast<double>(product.a[i * product.k + p]) * product.b[p * product.n + j];
  for (long j = 0; j < product.n; ++j)
    product.out[i * product.n + j] = static_cast<float>(sums[static_cast<size_t>(j)]);
}
}  // namespace

KERNEL(thread_scratch) {
  const Product product{a, b, out, m, n, k};
  std::thread other([&] {
    for (long i = 0; i < m / 2; ++i) row(product, i);
  });
  for (long i = m / 2; i < m; ++i) row(product, i);
  other.join();
}
