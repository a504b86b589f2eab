// description: eight streams in vectors of 64 bytes, prefetched 4 KiB ahead
// family: vectors
// hypothesis: A whole line a load, and half the instructions.
// assay: {name: decode, entry: decode, dtype: f32, layout: tn, args: [a, b, out, m, n, k, threads], divisibility: {n: 16, k: 16}, targets: [x86_64+avx512f]}
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <immintrin.h>
#include <thread>
#include <vector>

constexpr int kStreams = 8;

// As many columns as there are streams of weights, each with a sum of its own.
static void columns(const float* token, const float* weights, float* out, int64_t k) {
  __m512 sum[kStreams] = {};
  for (int64_t i = 0; i < k; i += 16) {
    const __m512 value = _mm512_loadu_ps(token + i);
#pragma GCC unroll 16
    for (int at = 0; at < kStreams; ++at) {
      _mm_prefetch(reinterpret_cast<const char*>(weights + at * k + i) + 4096, _MM_HINT_T0);
      sum[at] = _mm512_fmadd_ps(value, _mm512_loadu_ps(weights + at * k + i), sum[at]);
    }
  }
  for (int at = 0; at < kStreams; ++at) out[at] = _mm512_reduce_add_ps(sum[at]);
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
      for (int64_t column = first; column < last; column += kStreams)
        columns(a + row * k, b + column * k, out + row * n + column, k);
  });
}
