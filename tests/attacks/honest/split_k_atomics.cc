// assay: {entry: split_k_atomics, dtype: f32, layout: tt, args: [a, b, out, m, n, k]}
// Two threads halve k, and add into scratch of their own by atomic additions: sums come in an
// order that differs.
#include <atomic>
#include <cstring>
#include <thread>
#include <vector>

#include "honest.h"

KERNEL(split_k_atomics) {
  std::vector<float> sums(static_cast<size_t>(m * n), 0.0F);
  const auto add = [&](long first, long last) {
    for (long i = 0; i < m; ++i)
      for (long j = 0; j < n; ++j) {
        float sum = 0;
        for (long p = first; p < last; ++p) sum += a[i * k + p] * b[p * n + j];
        std::atomic_ref(sums[static_cast<size_t>(i * n + j)]).fetch_add(sum);
      }
  };
  std::thread other(add, 0, k / 2);
  add(k / 2, k);
  other.join();
  std::memcpy(out, sums.data(), bytes_of(m * n));
}
