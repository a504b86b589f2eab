#pragma once

// The arithmetic of AVX-512 as the kernel templates see it. A mode fixes how b turns into vector
// operands: a group is the columns that one load yields, step the rows of k that it covers.
// Modes may deliver a group's columns in an order of their own; linear() restores it at the end.

#include <immintrin.h>

#include "scalar.h"

#pragma GCC push_options
#pragma GCC target("avx512f,avx512bw,avx512vl,avx512dq,fma,f16c")
#define ASSAY_LANES [[gnu::always_inline]] static inline

namespace assay::native_cpu {

struct Avx512Words {
  static constexpr int kLanes = 16;
  static constexpr int kRegisters = 32;
  // In place: 16 vectors of 16 four-byte elements become their columns.
  ASSAY_LANES void transpose_words(__m512i* r) {
    __m512i t[16];
#pragma GCC unroll 8
    for (int i = 0; i < 8; ++i) {
      t[2 * i] = _mm512_unpacklo_epi32(r[2 * i], r[2 * i + 1]);
      t[2 * i + 1] = _mm512_unpackhi_epi32(r[2 * i], r[2 * i + 1]);
    }
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) {
      r[4 * i] = _mm512_unpacklo_epi64(t[4 * i], t[4 * i + 2]);
      r[4 * i + 1] = _mm512_unpackhi_epi64(t[4 * i], t[4 * i + 2]);
      r[4 * i + 2] = _mm512_unpacklo_epi64(t[4 * i + 1], t[4 * i + 3]);
      r[4 * i + 3] = _mm512_unpackhi_epi64(t[4 * i + 1], t[4 * i + 3]);
    }
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) {
      t[i] = _mm512_shuffle_i32x4(r[i], r[i + 4], 0x88);
      t[i + 4] = _mm512_shuffle_i32x4(r[i], r[i + 4], 0xdd);
      t[i + 8] = _mm512_shuffle_i32x4(r[i + 8], r[i + 12], 0x88);
      t[i + 12] = _mm512_shuffle_i32x4(r[i + 8], r[i + 12], 0xdd);
    }
#pragma GCC unroll 8
    for (int i = 0; i < 8; ++i) {
      r[i] = _mm512_shuffle_i32x4(t[i], t[i + 8], 0x88);
      r[i + 8] = _mm512_shuffle_i32x4(t[i], t[i + 8], 0xdd);
    }
  }
  // Rows of four-byte words, 16 at most and `stride` bytes apart, side by side: to[word][row].
  static void interleave_words(const std::byte* from, int64_t stride, int64_t rows, int64_t words,
                               std::byte* to) {
    const auto first = [](int64_t count) { return static_cast<__mmask16>((1u << count) - 1); };
    for (int64_t w = 0; w < words; w += 16, from += 64) {
      const int64_t count = std::min<int64_t>(16, words - w);
      __m512i lines[16];
#pragma GCC unroll 16
      for (int64_t i = 0; i < 16; ++i)  // What follows the last row is not stored.
        lines[i] = _mm512_maskz_loadu_epi32(first(count), from + std::min(i, rows - 1) * stride);
      transpose_words(lines);
#pragma GCC unroll 16
      for (int64_t i = 0; i < 16; ++i)
        if (i < count) _mm512_mask_storeu_epi32(to + (w + i) * rows * 4, first(rows), lines[i]);
    }
  }
  // The sums over the lanes of 16 vectors, which share their shuffles.
  template <class Lanes>
  ASSAY_LANES typename Lanes::Accumulator sum16(const typename Lanes::Sum* vectors) {
    const auto add = [](__m512 a, __m512 b) __attribute__((always_inline)) {
      return Lanes::as_floats(Lanes::add(Lanes::of_floats(a), Lanes::of_floats(b)));
    };
    __m512 quads[4];  // Each 128-bit lane: partial sums of vectors 4i to 4i + 3.
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) {
      const __m512 a = _mm512_loadu_ps(vectors + 64 * i),
                   b = _mm512_loadu_ps(vectors + 64 * i + 16);
      const __m512 c = _mm512_loadu_ps(vectors + 64 * i + 32),
                   d = _mm512_loadu_ps(vectors + 64 * i + 48);
      const __m512d ab = _mm512_castps_pd(add(_mm512_unpacklo_ps(a, b), _mm512_unpackhi_ps(a, b)));
      const __m512d cd = _mm512_castps_pd(add(_mm512_unpacklo_ps(c, d), _mm512_unpackhi_ps(c, d)));
      quads[i] = add(_mm512_castpd_ps(_mm512_unpacklo_pd(ab, cd)),
                     _mm512_castpd_ps(_mm512_unpackhi_pd(ab, cd)));
    }
    const __m512 low = add(_mm512_shuffle_f32x4(quads[0], quads[1], 0x88),
                           _mm512_shuffle_f32x4(quads[0], quads[1], 0xdd));
    const __m512 high = add(_mm512_shuffle_f32x4(quads[2], quads[3], 0x88),
                            _mm512_shuffle_f32x4(quads[2], quads[3], 0xdd));
    return Lanes::of_floats(
        add(_mm512_shuffle_f32x4(low, high, 0x88), _mm512_shuffle_f32x4(low, high, 0xdd)));
  }
};

struct Avx512 : Avx512Words {
  using Accumulator = __m512;
  using Sum = float;
  static constexpr Sum kOffset = 0;
  ASSAY_LANES __m512 as_floats(Accumulator v) { return v; }
  ASSAY_LANES Accumulator of_floats(__m512 v) { return v; }
  ASSAY_LANES Accumulator zero() { return _mm512_setzero_ps(); }
  ASSAY_LANES Accumulator load(const float* p) { return _mm512_loadu_ps(p); }
  ASSAY_LANES void store(float* p, Accumulator v) { _mm512_storeu_ps(p, v); }
  ASSAY_LANES Accumulator splat(float x) { return _mm512_set1_ps(x); }
  ASSAY_LANES Accumulator multiply(Accumulator a, Accumulator b) { return _mm512_mul_ps(a, b); }
  ASSAY_LANES Accumulator multiply_add(Accumulator a, Accumulator b, Accumulator c) {
    return _mm512_fmadd_ps(a, b, c);
  }
  ASSAY_LANES Accumulator add(Accumulator a, Accumulator b) { return _mm512_add_ps(a, b); }
  // out[i] = the sum over the lanes of vector i; sixteen at a time share their shuffles.
  ASSAY_LANES void sum_lanes(const float* vectors, int64_t count, float* out) {
    int64_t i = 0;
    for (; i + 16 <= count; i += 16) store(out + i, sum16<Avx512>(vectors + i * kLanes));
    for (; i < count; ++i) out[i] = _mm512_reduce_add_ps(load(vectors + i * kLanes));
  }
  // Rounds to nearest even in integers: the hardware's conversion would flush denormals.
  ASSAY_LANES void store_narrow(uint16_t* p, Accumulator v) {
    const __m512i bits = _mm512_castps_si512(v);
    const __m512i odd = _mm512_and_si512(_mm512_srli_epi32(bits, 16), _mm512_set1_epi32(1));
    __m512i rounded = _mm512_add_epi32(bits, _mm512_add_epi32(odd, _mm512_set1_epi32(0x7fff)));
    const __mmask16 nan = _mm512_cmp_ps_mask(v, v, _CMP_UNORD_Q);
    rounded = _mm512_mask_or_epi32(rounded, nan, bits, _mm512_set1_epi32(0x400000));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(p),
                        _mm512_cvtepi32_epi16(_mm512_srli_epi32(rounded, 16)));
  }
  ASSAY_LANES void transpose_floats(__m512* lines) {
    __m512i words[16];
#pragma GCC unroll 16
    for (int i = 0; i < 16; ++i) words[i] = _mm512_castps_si512(lines[i]);
    transpose_words(words);
#pragma GCC unroll 16
    for (int i = 0; i < 16; ++i) lines[i] = _mm512_castsi512_ps(words[i]);
  }
};

struct F32Avx512 : Avx512 {
  using Source = float;   // Element of a and b in memory.
  using PackedA = float;  // Element of packed a: step values of k of one row.
  using Operand = __m512;
  static constexpr int kGroup = 1;         // Accumulators per group.
  static constexpr int kStep = 1;          // Rows of k per load.
  static constexpr int kColumns = 16;      // Columns of a group.
  static constexpr int kPackedGroup = 16;  // Source elements of a packed group and step.
  static constexpr int kDot = 16;          // Elements of k in one dot-product vector.
  ASSAY_LANES PackedA packed(const Source* values) { return *values; }  // kStep values of k.
  ASSAY_LANES Operand broadcast(const PackedA* a) { return _mm512_set1_ps(*a); }
  ASSAY_LANES void load_rows(const Source* b, int64_t, Operand* out) { out[0] = load(b); }
  ASSAY_LANES void load_packed(const Source* b, Operand* out) { out[0] = load(b); }
  ASSAY_LANES void store_packed(Source* b, const Operand* v) { store(b, v[0]); }
  ASSAY_LANES Accumulator fma(Operand a, Operand b, Accumulator c) {
    return _mm512_fmadd_ps(a, b, c);
  }
  ASSAY_LANES void linear(Accumulator*) {}
  static constexpr bool kTransposes = true;
  ASSAY_LANES int column_of(int, int lane) { return lane; }
  ASSAY_LANES void store_vector(Source* p, Operand v) { store(p, v); }
  ASSAY_LANES void transpose(Operand* lines) { transpose_floats(lines); }
  // Dot products: one vector of a and of b along k.
  static constexpr int kDotOperands = 1;
  ASSAY_LANES void load_dot(const Source* p, Operand* out) { out[0] = load(p); }
  ASSAY_LANES void load_dot_a(const Source* p, Operand* out) { load_dot(p, out); }
  ASSAY_LANES void load_dot_tail(const Source* p, int count, Operand* out) {
    out[0] = _mm512_maskz_loadu_ps(static_cast<__mmask16>((1u << count) - 1), p);
  }
};

// bf16 widened to f32 by shifting; denormals keep their value. Even columns come first.
struct WidenAvx512 : Avx512 {
  using Source = uint16_t;
  using PackedA = float;
  using Operand = __m512;
  static constexpr int kGroup = 2, kStep = 1, kColumns = 32, kPackedGroup = 32, kDot = 32;
  ASSAY_LANES PackedA packed(const Source* values) { return float_of(*values); }
  ASSAY_LANES Operand broadcast(const PackedA* a) { return _mm512_set1_ps(*a); }
  ASSAY_LANES void widen(__m512i v, Operand* out) {
    out[0] = _mm512_castsi512_ps(_mm512_slli_epi32(v, 16));
    out[1] = _mm512_castsi512_ps(_mm512_and_si512(v, _mm512_set1_epi32(-65536)));
  }
  ASSAY_LANES void load_rows(const Source* b, int64_t, Operand* out) {
    widen(_mm512_loadu_si512(b), out);
  }
  ASSAY_LANES void load_packed(const Source* b, Operand* out) { widen(_mm512_loadu_si512(b), out); }
  ASSAY_LANES void store_packed(Source* b, const Operand* v) {
    const __m512i even = _mm512_srli_epi32(_mm512_castps_si512(v[0]), 16);
    _mm512_storeu_si512(b, _mm512_or_si512(even, _mm512_castps_si512(v[1])));
  }
  ASSAY_LANES Accumulator fma(Operand a, Operand b, Accumulator c) {
    return _mm512_fmadd_ps(a, b, c);
  }
  ASSAY_LANES void linear(Accumulator* v) {
    const __m512i low = _mm512_setr_epi32(0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
    const __m512i high = _mm512_add_epi32(low, _mm512_set1_epi32(8));
    const Accumulator even = v[0];
    v[0] = _mm512_permutex2var_ps(even, low, v[1]);
    v[1] = _mm512_permutex2var_ps(even, high, v[1]);
  }
  static constexpr bool kTransposes = false;
  static constexpr int kDotOperands = 2;
  ASSAY_LANES void load_dot(const Source* p, Operand* out) { widen(_mm512_loadu_si512(p), out); }
  ASSAY_LANES void load_dot_a(const Source* p, Operand* out) { load_dot(p, out); }
  ASSAY_LANES void load_dot_tail(const Source* p, int count, Operand* out) {
    widen(_mm512_maskz_loadu_epi16(static_cast<__mmask32>((1ull << count) - 1), p), out);
  }
};

// f16 widened by the hardware's conversion, which keeps denormals.
struct F16Avx512 : Avx512 {
  using Source = Half;
  using PackedA = float;
  using Operand = __m512;
  static constexpr int kGroup = 1, kStep = 1, kColumns = 16, kPackedGroup = 16, kDot = 16;
  ASSAY_LANES void store_half(void* p, Accumulator v) {
    _mm256_storeu_si256(static_cast<__m256i*>(p),
                        _mm512_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
  }
  ASSAY_LANES void store_narrow(uint16_t* p, Accumulator v) { store_half(p, v); }
  ASSAY_LANES PackedA packed(const Source* values) {
    return _mm_cvtss_f32(_mm_cvtph_ps(_mm_cvtsi32_si128(values->bits)));
  }
  ASSAY_LANES Operand broadcast(const PackedA* a) { return _mm512_set1_ps(*a); }
  ASSAY_LANES void load_packed(const Source* b, Operand* out) {
    out[0] = _mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(b)));
  }
  ASSAY_LANES void load_rows(const Source* b, int64_t, Operand* out) { load_packed(b, out); }
  ASSAY_LANES void store_packed(Source* b, const Operand* v) { store_half(b, v[0]); }
  ASSAY_LANES Accumulator fma(Operand a, Operand b, Accumulator c) {
    return _mm512_fmadd_ps(a, b, c);
  }
  ASSAY_LANES void linear(Accumulator*) {}
  static constexpr bool kTransposes = true;
  ASSAY_LANES int column_of(int, int lane) { return lane; }
  ASSAY_LANES void store_vector(Source* p, Operand v) { store_half(p, v); }
  ASSAY_LANES void transpose(Operand* lines) { transpose_floats(lines); }
  static constexpr int kDotOperands = 1;
  ASSAY_LANES void load_dot(const Source* p, Operand* out) { load_packed(p, out); }
  ASSAY_LANES void load_dot_a(const Source* p, Operand* out) { load_dot(p, out); }
  ASSAY_LANES void load_dot_tail(const Source* p, int count, Operand* out) {
    out[0] =
        _mm512_cvtph_ps(_mm256_maskz_loadu_epi16(static_cast<__mmask16>((1u << count) - 1), p));
  }
};

// Sums of s8 products: exact, since pairs and quads of products fit in s32 and s32 wraps.
struct S32Avx512 : Avx512Words {
  using Accumulator = __m512i;
  using Sum = int32_t;
  static constexpr Sum kOffset = 0;
  ASSAY_LANES __m512 as_floats(Accumulator v) { return _mm512_castsi512_ps(v); }
  ASSAY_LANES Accumulator of_floats(__m512 v) { return _mm512_castps_si512(v); }
  ASSAY_LANES Accumulator zero() { return _mm512_setzero_si512(); }
  ASSAY_LANES Accumulator load(const Sum* p) { return _mm512_loadu_si512(p); }
  ASSAY_LANES void store(Sum* p, Accumulator v) { _mm512_storeu_si512(p, v); }
  ASSAY_LANES Accumulator splat(Sum x) { return _mm512_set1_epi32(x); }
  ASSAY_LANES Accumulator multiply(Accumulator a, Accumulator b) {
    return _mm512_mullo_epi32(a, b);
  }
  ASSAY_LANES Accumulator add(Accumulator a, Accumulator b) { return _mm512_add_epi32(a, b); }
  ASSAY_LANES Accumulator multiply_add(Accumulator a, Accumulator b, Accumulator c) {
    return add(multiply(a, b), c);
  }
  ASSAY_LANES void sum_lanes(const Sum* vectors, int64_t count, Sum* out) {
    int64_t i = 0;
    for (; i + 16 <= count; i += 16) store(out + i, sum16<S32Avx512>(vectors + i * kLanes));
    for (; i < count; ++i) out[i] = _mm512_reduce_add_epi32(load(vectors + i * kLanes));
  }
};

// s8 widened to s16, pairs of k against pairs of k. Interleaving two rows stays within 128-bit
// lanes, so a group holds columns 0-7, 16-23, 8-15, 24-31.
struct S8Avx512 : S32Avx512 {
  using Source = int8_t;
  using PackedA = uint32_t;  // A pair of k in s16.
  using Operand = __m512i;
  static constexpr int kGroup = 2, kStep = 2, kColumns = 32, kPackedGroup = 64, kDot = 32;
  ASSAY_LANES PackedA packed(const Source* values) {
    return uint32_t{static_cast<uint16_t>(values[0])} | uint32_t{static_cast<uint16_t>(values[1])}
                                                            << 16;
  }
  ASSAY_LANES Operand broadcast(const PackedA* a) {
    return _mm512_set1_epi32(static_cast<int>(*a));
  }
  ASSAY_LANES __m256i half(const Source* p) {
    return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p));
  }
  ASSAY_LANES void load_rows(const Source* b, int64_t stride, Operand* out) {
    const __m256i even = half(b), odd = half(b + stride);
    out[0] = _mm512_cvtepi8_epi16(_mm256_unpacklo_epi8(even, odd));
    out[1] = _mm512_cvtepi8_epi16(_mm256_unpackhi_epi8(even, odd));
  }
  ASSAY_LANES void load_packed(const Source* b, Operand* out) {
    out[0] = _mm512_cvtepi8_epi16(half(b));
    out[1] = _mm512_cvtepi8_epi16(half(b + 32));
  }
  ASSAY_LANES void store_packed(Source* b, const Operand* v) {
#pragma GCC unroll 2
    for (int i = 0; i < kGroup; ++i)
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(b + 32 * i), _mm512_cvtepi16_epi8(v[i]));
  }
  ASSAY_LANES Accumulator fma(Operand a, Operand b, Accumulator c) {
    return _mm512_add_epi32(c, _mm512_madd_epi16(a, b));
  }
  ASSAY_LANES void linear(Accumulator* v) {
    const Accumulator first = v[0];
    v[0] = _mm512_shuffle_i64x2(first, v[1], 0x44);
    v[1] = _mm512_shuffle_i64x2(first, v[1], 0xee);
  }
  static constexpr bool kTransposes = false;
  static constexpr int kDotOperands = 1;
  ASSAY_LANES void load_dot(const Source* p, Operand* out) {
    out[0] = _mm512_cvtepi8_epi16(half(p));
  }
  ASSAY_LANES void load_dot_a(const Source* p, Operand* out) { load_dot(p, out); }
  ASSAY_LANES void load_dot_tail(const Source* p, int count, Operand* out) {
    out[0] = _mm512_cvtepi8_epi16(
        _mm256_maskz_loadu_epi8(static_cast<__mmask32>((1ull << count) - 1), p));
  }
};

}  // namespace assay::native_cpu

#pragma GCC pop_options
#undef ASSAY_LANES
