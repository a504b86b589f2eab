// description: packed in vectors of 64 bytes, four streams, prefetched 2 KiB ahead
// family: packing
// hypothesis: More of the memory works at once.
// assay: {name: decode, entry: decode, dtype: f32, layout: tn, args: [a, prepared, out, m, n, k, threads], divisibility: {n: 64, k: 16},
//         targets: [x86_64+avx512f], prepare: {entry: pack, bytes: n * k * 4, args: [b, prepared, n, k]}}
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <immintrin.h>
#include <thread>
#include <vector>

constexpr int kBlocks = 4, kSums = 4;

// b as blocks of 16 columns, each with its k rows behind one another.
static void pack(const float* b, float* packed, int64_t n, int64_t k) {
  for (int64_t block = 0; block < n / 16; ++block)
    for (int64_t i = 0; i < k; ++i)
      for (int at = 0; at < 16; ++at) packed[(block * k + i) * 16 + at] = b[(block * 16 + at) * k + i];
}

// As many blocks at once, each a stream that is read in order.
static void blocks_of(const float* token, const float* weights, float* out, int64_t k) {
  __m512 sum[kBlocks][kSums] = {};
  for (int64_t i = 0; i < k; i += kSums) {
#pragma GCC unroll 4
    for (int row = 0; row < kSums; ++row) {
      const __m512 value = _mm512_set1_ps(token[i + row]);
#pragma GCC unroll 4
      for (int block = 0; block < kBlocks; ++block) {
        const float* line = weights + (block * k + i + row) * 16;
        _mm_prefetch(reinterpret_cast<const char*>(line) + 2048, _MM_HINT_T0);
        sum[block][row] = _mm512_fmadd_ps(value, _mm512_loadu_ps(line), sum[block][row]);
      }
    }
  }
  for (int block = 0; block < kBlocks; ++block) {
    const __m512 first = _mm512_add_ps(sum[block][0], sum[block][1]), second = _mm512_add_ps(sum[block][2], sum[block][3]);
    _mm512_storeu_ps(out + 16 * block, _mm512_add_ps(first, second));
  }
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

// out[m, n] = a[m, k] * b, packed.
void decode(const float* a, const float* packed, float* out, int64_t m, int64_t n, int64_t k, int64_t threads) {
  share(n, 64, threads, [&](int64_t first, int64_t last) {
    for (int64_t row = 0; row < m; ++row)
      for (int64_t column = first; column < last; column += 16 * kBlocks)
        blocks_of(a + row * k, packed + column * k, out + row * n + column, k);
  });
}
