// description: packed, prefetched 2 KiB ahead
// family: prefetch
// hypothesis: With one stream the hint may go farther.
// assay: {name: decode, entry: decode, dtype: f32, layout: tn, args: [a, prepared, out, m, n, k, threads], divisibility: {n: 16, k: 16},
//         targets: [x86_64+avx2+fma], prepare: {entry: pack, bytes: n * k * 4, args: [b, prepared, n, k]}}
#include <algorithm>
#include <cstdint>
#include <immintrin.h>
#include <thread>
#include <vector>

// b as blocks of 16 columns, each with its k rows behind one another: one stream, read in order.
static void pack(const float* b, float* packed, int64_t n, int64_t k) {
  for (int64_t block = 0; block < n / 16; ++block)
    for (int64_t i = 0; i < k; ++i)
      for (int at = 0; at < 16; ++at)
        packed[(block * k + i) * 16 + at] = b[(block * 16 + at) * k + i];
}

static void block_of(const float* token, const float* weights, float* out, int64_t k) {
  constexpr int kRows = 4;
  __m256 sum[kRows][2] = {};
  for (int64_t i = 0; i < k; i += kRows) {
    for (int at = 0; at < 4; ++at) _mm_prefetch(reinterpret_cast<const char*>(weights) + 2048 + 64 * at, _MM_HINT_T0);
#pragma GCC unroll 4
    for (int row = 0; row < kRows; ++row, weights += 16) {
      const __m256 value = _mm256_set1_ps(token[i + row]);
#pragma GCC unroll 2
      for (int at = 0; at < 2; ++at)
        sum[row][at] = _mm256_fmadd_ps(value, _mm256_loadu_ps(weights + 8 * at), sum[row][at]);
    }
  }
  for (int at = 0; at < 2; ++at) {
    for (int row = 1; row < kRows; ++row) sum[0][at] = _mm256_add_ps(sum[0][at], sum[row][at]);
    _mm256_storeu_ps(out + 8 * at, sum[0][at]);
  }
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

// out[m, n] = a[m, k] * b, packed.
void decode(const float* a, const float* packed, float* out, int64_t m, int64_t n, int64_t k, int64_t threads) {
  share(n, 16, threads, [&](int64_t first, int64_t last) {
    for (int64_t row = 0; row < m; ++row)
      for (int64_t column = first; column < last; column += 16)
        block_of(a + row * k, packed + column * k, out + row * n + column, k);
  });
}
