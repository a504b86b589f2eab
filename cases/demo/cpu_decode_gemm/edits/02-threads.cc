// description: both cores
// family: threads
// hypothesis: The second core does nothing so far.
// assay: {name: decode, entry: decode, dtype: f32, layout: tn, args: [a, b, out, m, n, k, threads]}
#include <algorithm>
#include <cstdint>
#include <thread>
#include <vector>

// Columns in as many parts as there are cores; the first is made by the caller.
template <class Part>
static void share(int64_t n, int64_t step, int64_t threads, const Part& part) {
  const int64_t each = (n / step + threads - 1) / threads * step;
  std::vector<std::thread> helpers;
  for (int64_t i = 1; i < threads; ++i)
    helpers.emplace_back([&, i] { part(std::min(n, i * each), std::min(n, (i + 1) * each)); });
  part(0, std::min(n, each));
  for (std::thread& helper : helpers) helper.join();
}

// out[m, n] = a[m, k] * b, whose weights lie as [n, k].
void decode(const float* a, const float* b, float* out, int64_t m, int64_t n, int64_t k, int64_t threads) {
  share(n, 1, threads, [&](int64_t first, int64_t last) {
    for (int64_t row = 0; row < m; ++row)
      for (int64_t column = first; column < last; ++column) {
        float sum = 0;
        for (int64_t i = 0; i < k; ++i) sum += a[row * k + i] * b[column * k + i];
        out[row * n + column] = sum;
      }
  });
}
