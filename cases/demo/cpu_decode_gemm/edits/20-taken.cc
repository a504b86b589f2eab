// description: eight streams prefetched 4 KiB ahead, columns taken by whichever core is free
// family: prefetch
// hypothesis: Hardware follows fewer streams by itself, and the second core begins later than the first.
// assay: {name: decode, entry: decode, dtype: f32, layout: tn, args: [a, b, out, m, n, k, threads], divisibility: {n: 16, k: 16}, targets: [x86_64+avx2+fma]}
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <immintrin.h>
#include <thread>
#include <vector>

static float total(__m256 sum) {
  const __m128 four = _mm_add_ps(_mm256_castps256_ps128(sum), _mm256_extractf128_ps(sum, 1));
  const __m128 two = _mm_add_ps(four, _mm_movehl_ps(four, four));
  return _mm_cvtss_f32(_mm_add_ss(two, _mm_movehdup_ps(two)));
}

// 8 columns: 8 streams of weights, each with a sum of its own.
static void columns(const float* token, const float* weights, float* out, int64_t k) {
  __m256 sum[8] = {};
  for (int64_t i = 0; i < k; i += 16) {
    const __m256 value = _mm256_loadu_ps(token + i), next = _mm256_loadu_ps(token + i + 8);
#pragma GCC unroll 8
    for (int at = 0; at < 8; ++at) {
      _mm_prefetch(reinterpret_cast<const char*>(weights + at * k + i) + 4096, _MM_HINT_T0);
      sum[at] = _mm256_fmadd_ps(value, _mm256_loadu_ps(weights + at * k + i), sum[at]);
      sum[at] = _mm256_fmadd_ps(next, _mm256_loadu_ps(weights + at * k + i + 8), sum[at]);
    }
  }
  for (int at = 0; at < 8; ++at) out[at] = total(sum[at]);
}

// Columns in portions, which each core takes as it is free; the first core is the caller.
template <class Part>
static void share(int64_t n, int64_t step, int64_t threads, const Part& part) {
  std::atomic<int64_t> taken{0};
  const auto work = [&] {
    for (int64_t first; (first = taken.fetch_add(step)) < n;) part(first, std::min(n, first + step));
  };
  std::vector<std::thread> helpers;
  for (int64_t i = 1; i < threads; ++i) helpers.emplace_back(work);
  work();
  for (std::thread& helper : helpers) helper.join();
}

// out[m, n] = a[m, k] * b, whose weights lie as [n, k].
void decode(const float* a, const float* b, float* out, int64_t m, int64_t n, int64_t k, int64_t threads) {
  share(n, 128, threads, [&](int64_t first, int64_t last) {
    for (int64_t row = 0; row < m; ++row)
      for (int64_t column = first; column < last; column += 8)
        columns(a + row * k, b + column * k, out + row * n + column, k);
  });
}
