// description: four columns at once
// family: loops
// hypothesis: Four sums do not wait for one another.
// assay: {name: decode, entry: decode, dtype: f32, layout: tn, args: [a, b, out, m, n, k, threads], divisibility: {n: 16, k: 16}}
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
  share(n, 4, threads, [&](int64_t first, int64_t last) {
    for (int64_t row = 0; row < m; ++row)
      for (int64_t column = first; column < last; column += 4) {
        float sum[4] = {};
        for (int64_t i = 0; i < k; ++i)
          for (int at = 0; at < 4; ++at) sum[at] += a[row * k + i] * b[(column + at) * k + i];
        for (int at = 0; at < 4; ++at) out[row * n + column + at] = sum[at];
      }
  });
}
