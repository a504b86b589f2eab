// description: two sums in place of four
// family: vectors
// hypothesis: Memory is slower than one addition, so fewer registers do.
// assay: {name: decode, entry: decode, dtype: f32, layout: tn, args: [a, prepared, out, m, n, k], divisibility: {n: 16, k: 16}, targets: [x86_64+avx512f],
//         prepare: {entry: pack, bytes: n * k * 4, args: [b, prepared, n, k]}}
#include <cstdint>
#include <immintrin.h>

constexpr int kColumns = 16;

// b as blocks of 16 columns, each with its k rows behind one another: one stream, read in order.
static void pack(const float* b, float* packed, int64_t n, int64_t k) {
  for (int64_t block = 0; block < n / kColumns; ++block)
    for (int64_t i = 0; i < k; ++i)
      for (int at = 0; at < kColumns; ++at)
        packed[(block * k + i) * kColumns + at] = b[(block * kColumns + at) * k + i];
}

// 16 outputs, by four sums that do not wait for one another.
static void block_of(const float* token, const float* packed, float* out, int64_t k) {
  __m512 sum[2] = {};
  for (int64_t i = 0; i < k; i += 2)
#pragma GCC unroll 2
    for (int at = 0; at < 2; ++at) {
      const float* const weights = packed + (i + at) * kColumns;
      _mm_prefetch(reinterpret_cast<const char*>(weights + 512), _MM_HINT_T0);
      sum[at] = _mm512_fmadd_ps(_mm512_set1_ps(token[i + at]), _mm512_loadu_ps(weights), sum[at]);
    }
  _mm512_storeu_ps(out, _mm512_add_ps(sum[0], sum[1]));
}

// out[m, n] = a[m, k] * b, whose weights lie as [n, k].
void decode(const float* a, const float* packed, float* out, int64_t m, int64_t n, int64_t k) {
  for (int64_t block = 0; block < n / kColumns; ++block)
    for (int64_t row = 0; row < m; ++row)
      block_of(a + row * k, packed + block * kColumns * k, out + row * n + block * kColumns, k);
}
