// description: three sums of AVX2
// family: vectors
// hypothesis: More sums hide how long one takes.
// assay: {name: decode, entry: decode, dtype: f32, layout: tn, args: [a, b, out, m, n, k, threads], targets: [x86_64+avx2+fma]}
#include <algorithm>
#include <cstdint>
#include <immintrin.h>
#include <thread>
#include <vector>

static float total(__m256 sum) {
  const __m128 four = _mm_add_ps(_mm256_castps256_ps128(sum), _mm256_extractf128_ps(sum, 1));
  const __m128 two = _mm_add_ps(four, _mm_movehl_ps(four, four));
  return _mm_cvtss_f32(_mm_add_ss(two, _mm_movehdup_ps(two)));
}

// One output, by 3 sums that do not wait for one another.
static float dot(const float* token, const float* weights, int64_t k) {
  __m256 sum[3] = {};
  for (int64_t i = 0; i + 24 <= k; i += 24) {
#pragma GCC unroll 3
    for (int at = 0; at < 3; ++at)
      sum[at] = _mm256_fmadd_ps(_mm256_loadu_ps(token + i + 8 * at),
                                _mm256_loadu_ps(weights + i + 8 * at), sum[at]);
  }
  for (int at = 1; at < 3; ++at) sum[0] = _mm256_add_ps(sum[0], sum[at]);
  return total(sum[0]);
}

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
      for (int64_t column = first; column < last; ++column)
        out[row * n + column] = dot(a + row * k, b + column * k, k);
  });
}
