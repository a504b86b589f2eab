// description: two packed blocks at once
// family: packing
// hypothesis: Two streams and eight sums; each broadcast of the token serves 32 outputs.
// assay: {name: decode, entry: decode, dtype: f32, layout: tn, args: [a, prepared, out, m, n, k], divisibility: {n: 32, k: 16}, targets: [x86_64+avx512f],
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

// 32 outputs, by four sums for each 16 that do not wait for one another.
static void two_blocks(const float* token, const float* packed, float* out, int64_t k) {
  __m512 sum[2][4] = {};
  for (int64_t i = 0; i < k; i += 4)
#pragma GCC unroll 4
    for (int at = 0; at < 4; ++at) {
      const __m512 part = _mm512_set1_ps(token[i + at]);
#pragma GCC unroll 2
      for (int block = 0; block < 2; ++block) {
        const float* const weights = packed + (block * k + i + at) * kColumns;
        _mm_prefetch(reinterpret_cast<const char*>(weights + 512), _MM_HINT_T0);
        sum[block][at] = _mm512_fmadd_ps(part, _mm512_loadu_ps(weights), sum[block][at]);
      }
    }
#pragma GCC unroll 2
  for (int block = 0; block < 2; ++block)
    _mm512_storeu_ps(out + block * kColumns,
                     _mm512_add_ps(_mm512_add_ps(sum[block][0], sum[block][1]),
                                   _mm512_add_ps(sum[block][2], sum[block][3])));
}

// out[m, n] = a[m, k] * b, whose weights lie as [n, k].
void decode(const float* a, const float* packed, float* out, int64_t m, int64_t n, int64_t k) {
  for (int64_t pair = 0; pair < n / (2 * kColumns); ++pair)
    for (int64_t row = 0; row < m; ++row)
      two_blocks(a + row * k, packed + 2 * pair * kColumns * k, out + row * n + 2 * pair * kColumns,
                 k);
}
