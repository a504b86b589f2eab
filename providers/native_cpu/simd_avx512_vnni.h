#pragma once

// The integer dot-product instruction: quads of k in u8 against quads in s8, summed in s32. b is
// made unsigned by adding 128, which flips its top bit; a row of a then sums 128 times itself too
// much, which is taken off at the end (find_offsets). All of that is exact modulo 2^32.

#include "simd_avx512.h"

#pragma GCC push_options
#pragma GCC target("avx512f,avx512bw,avx512vl,avx512dq,avx512vnni,fma,f16c")
#define ASSAY_LANES [[gnu::always_inline]] static inline

namespace assay::native_cpu {

// Interleaving four rows stays within 128-bit lanes: vector i of a group holds columns 4i to 4i + 3
// of each 16.
struct S8Vnni : S32Avx512 {
  using Source = int8_t;
  using PackedA = uint32_t;  // Four of k.
  using Operand = __m512i;
  static constexpr Sum kOffset = 128;
  static constexpr int kGroup = 4, kStep = 4, kColumns = 64, kPackedGroup = 256, kDot = 64;
  ASSAY_LANES PackedA packed(const Source* values) {
    PackedA quad;
    std::memcpy(&quad, values, sizeof(quad));
    return quad;
  }
  ASSAY_LANES Operand broadcast(const PackedA* a) {
    return _mm512_set1_epi32(static_cast<int>(*a));
  }
  ASSAY_LANES __m512i unsigned_of(__m512i v) { return _mm512_xor_si512(v, _mm512_set1_epi8(-128)); }
  ASSAY_LANES void load_rows(const Source* b, int64_t stride, Operand* out) {
    __m512i row[4];
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) row[i] = unsigned_of(_mm512_loadu_si512(b + i * stride));
    const __m512i low01 = _mm512_unpacklo_epi8(row[0], row[1]);
    const __m512i high01 = _mm512_unpackhi_epi8(row[0], row[1]);
    const __m512i low23 = _mm512_unpacklo_epi8(row[2], row[3]);
    const __m512i high23 = _mm512_unpackhi_epi8(row[2], row[3]);
    out[0] = _mm512_unpacklo_epi16(low01, low23);
    out[1] = _mm512_unpackhi_epi16(low01, low23);
    out[2] = _mm512_unpacklo_epi16(high01, high23);
    out[3] = _mm512_unpackhi_epi16(high01, high23);
  }
  // Packed b is unsigned.
  ASSAY_LANES void load_packed(const Source* b, Operand* out) {
#pragma GCC unroll 4
    for (int i = 0; i < kGroup; ++i) out[i] = _mm512_loadu_si512(b + 64 * i);
  }
  ASSAY_LANES void store_packed(Source* b, const Operand* v) {
#pragma GCC unroll 4
    for (int i = 0; i < kGroup; ++i) _mm512_storeu_si512(b + 64 * i, v[i]);
  }
  ASSAY_LANES Accumulator fma(Operand a, Operand b, Accumulator c) {
    return _mm512_dpbusd_epi32(c, b, a);
  }
  ASSAY_LANES void linear(Accumulator* v) {
    const Accumulator a = _mm512_shuffle_i32x4(v[0], v[1], 0x44);
    const Accumulator b = _mm512_shuffle_i32x4(v[2], v[3], 0x44);
    const Accumulator c = _mm512_shuffle_i32x4(v[0], v[1], 0xee);
    const Accumulator d = _mm512_shuffle_i32x4(v[2], v[3], 0xee);
    v[0] = _mm512_shuffle_i32x4(a, b, 0x88);
    v[1] = _mm512_shuffle_i32x4(a, b, 0xdd);
    v[2] = _mm512_shuffle_i32x4(c, d, 0x88);
    v[3] = _mm512_shuffle_i32x4(c, d, 0xdd);
  }
  static constexpr bool kTransposes = true;
  ASSAY_LANES int column_of(int vector, int lane) { return lane / 4 * 16 + vector * 4 + lane % 4; }
  ASSAY_LANES void store_vector(Source* p, Operand v) { _mm512_storeu_si512(p, v); }
  ASSAY_LANES void transpose(Operand* lines) { transpose_words(lines); }
  static constexpr int kDotOperands = 1;
  ASSAY_LANES void load_dot(const Source* p, Operand* out) {
    out[0] = unsigned_of(_mm512_loadu_si512(p));
  }
  ASSAY_LANES void load_dot_a(const Source* p, Operand* out) { out[0] = _mm512_loadu_si512(p); }
  // What it makes of the bytes beyond the end meets zeros of a.
  ASSAY_LANES void load_dot_tail(const Source* p, int count, Operand* out) {
    out[0] =
        unsigned_of(_mm512_maskz_loadu_epi8(static_cast<__mmask64>((uint64_t{1} << count) - 1), p));
  }
};

}  // namespace assay::native_cpu

#pragma GCC pop_options
#undef ASSAY_LANES
