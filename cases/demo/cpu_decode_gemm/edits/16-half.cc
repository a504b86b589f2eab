// description: weights packed as bf16
// family: packing
// hypothesis: Memory is what a token waits for, and half the bytes are half the time.
// assay: {name: decode, entry: decode, dtype: f32, layout: tn, args: [a, prepared, out, m, n, k], divisibility: {n: 16, k: 16}, targets: [x86_64+avx512f],
//         prepare: {entry: pack, bytes: n * k * 2, args: [b, prepared, n, k]}}
#include <cstdint>
#include <cstring>
#include <immintrin.h>

constexpr int kColumns = 16;

// The upper half of each weight, rounded to nearest: half the bytes that a token waits for.
static void pack(const float* b, uint16_t* packed, int64_t n, int64_t k) {
  for (int64_t block = 0; block < n / kColumns; ++block)
    for (int64_t i = 0; i < k; ++i)
      for (int at = 0; at < kColumns; ++at) {
        uint32_t bits;
        std::memcpy(&bits, b + (block * kColumns + at) * k + i, sizeof bits);
        packed[(block * k + i) * kColumns + at] =
            static_cast<uint16_t>((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
      }
}

static void block_of(const float* token, const uint16_t* packed, float* out, int64_t k) {
  __m512 sum[4] = {};
  for (int64_t i = 0; i < k; i += 4)
#pragma GCC unroll 4
    for (int at = 0; at < 4; ++at) {
      const __m256i halves =
          _mm256_loadu_si256(reinterpret_cast<const __m256i*>(packed + (i + at) * kColumns));
      const __m512 weights =
          _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(halves), 16));
      sum[at] = _mm512_fmadd_ps(_mm512_set1_ps(token[i + at]), weights, sum[at]);
    }
  _mm512_storeu_ps(out,
                   _mm512_add_ps(_mm512_add_ps(sum[0], sum[1]), _mm512_add_ps(sum[2], sum[3])));
}

// out[m, n] = a[m, k] * b, whose weights lie as [n, k].
void decode(const float* a, const uint16_t* packed, float* out, int64_t m, int64_t n, int64_t k) {
  for (int64_t block = 0; block < n / kColumns; ++block)
    for (int64_t row = 0; row < m; ++row)
      block_of(a + row * k, packed + block * kColumns * k, out + row * n + block * kColumns, k);
}
