#pragma once

// The arithmetic of AVX2 with FMA; see simd_avx512.h for what a mode is.

#include <immintrin.h>

#include "scalar.h"

// f16c comes with every processor that has AVX2; only the modes of f16 use it, and ask for it.
#pragma GCC push_options
#pragma GCC target("avx2,fma,f16c")
#define ASSAY_LANES [[gnu::always_inline]] static inline

namespace assay::native_cpu {

struct Avx2 {
  using Accumulator = __m256;
  using Sum = float;
  static constexpr int kLanes = 8;
  static constexpr int kRegisters = 16;
  static constexpr Sum kOffset = 0;
  ASSAY_LANES Accumulator zero() { return _mm256_setzero_ps(); }
  ASSAY_LANES Accumulator load(const float* p) { return _mm256_loadu_ps(p); }
  ASSAY_LANES void store(float* p, Accumulator v) { _mm256_storeu_ps(p, v); }
  ASSAY_LANES Accumulator splat(float x) { return _mm256_set1_ps(x); }
  ASSAY_LANES Accumulator multiply(Accumulator a, Accumulator b) { return _mm256_mul_ps(a, b); }
  ASSAY_LANES Accumulator multiply_add(Accumulator a, Accumulator b, Accumulator c) {
    return _mm256_fmadd_ps(a, b, c);
  }
  ASSAY_LANES Accumulator add(Accumulator a, Accumulator b) { return _mm256_add_ps(a, b); }
  ASSAY_LANES void sum_lanes(const float* vectors, int64_t count, float* out) {
    for (int64_t i = 0; i < count; ++i) out[i] = sum(load(vectors + i * kLanes));
  }
  ASSAY_LANES float sum(Accumulator v) {
    __m128 s = _mm_add_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps(v, 1));
    s = _mm_add_ps(s, _mm_movehl_ps(s, s));
    return _mm_cvtss_f32(_mm_add_ss(s, _mm_movehdup_ps(s)));
  }
  ASSAY_LANES void store_narrow(uint16_t* p, Accumulator v) {
    const __m256i bits = _mm256_castps_si256(v);
    const __m256i odd = _mm256_and_si256(_mm256_srli_epi32(bits, 16), _mm256_set1_epi32(1));
    __m256i rounded = _mm256_add_epi32(bits, _mm256_add_epi32(odd, _mm256_set1_epi32(0x7fff)));
    const __m256i nan = _mm256_castps_si256(_mm256_cmp_ps(v, v, _CMP_UNORD_Q));
    rounded = _mm256_blendv_epi8(rounded, _mm256_or_si256(bits, _mm256_set1_epi32(0x400000)), nan);
    rounded = _mm256_srli_epi32(rounded, 16);
    const __m128i narrow =
        _mm_packus_epi32(_mm256_castsi256_si128(rounded), _mm256_extracti128_si256(rounded, 1));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(p), narrow);
  }
};

struct F32Avx2 : Avx2 {
  using Source = float;
  using PackedA = float;
  using Operand = __m256;
  static constexpr int kGroup = 1, kStep = 1, kColumns = 8, kPackedGroup = 8, kDot = 8;
  ASSAY_LANES PackedA packed(const Source* values) { return *values; }
  ASSAY_LANES Operand broadcast(const PackedA* a) { return _mm256_broadcast_ss(a); }
  ASSAY_LANES void load_rows(const Source* b, int64_t, Operand* out) { out[0] = load(b); }
  ASSAY_LANES void load_packed(const Source* b, Operand* out) { out[0] = load(b); }
  ASSAY_LANES void store_packed(Source* b, const Operand* v) { store(b, v[0]); }
  ASSAY_LANES Accumulator fma(Operand a, Operand b, Accumulator c) {
    return _mm256_fmadd_ps(a, b, c);
  }
  ASSAY_LANES void linear(Accumulator*) {}
  static constexpr bool kTransposes = false;
  static constexpr int kDotOperands = 1;
  ASSAY_LANES void load_dot(const Source* p, Operand* out) { out[0] = load(p); }
  ASSAY_LANES void load_dot_a(const Source* p, Operand* out) { load_dot(p, out); }
  ASSAY_LANES void load_dot_tail(const Source* p, int count, Operand* out) {
    const __m256i lane = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    out[0] = _mm256_maskload_ps(p, _mm256_cmpgt_epi32(_mm256_set1_epi32(count), lane));
  }
};

struct WidenAvx2 : Avx2 {
  using Source = uint16_t;
  using PackedA = float;
  using Operand = __m256;
  static constexpr int kGroup = 2, kStep = 1, kColumns = 16, kPackedGroup = 16, kDot = 16;
  ASSAY_LANES PackedA packed(const Source* values) { return float_of(*values); }
  ASSAY_LANES Operand broadcast(const PackedA* a) { return _mm256_broadcast_ss(a); }
  ASSAY_LANES void widen(__m256i v, Operand* out) {
    out[0] = _mm256_castsi256_ps(_mm256_slli_epi32(v, 16));
    out[1] = _mm256_castsi256_ps(_mm256_and_si256(v, _mm256_set1_epi32(-65536)));
  }
  ASSAY_LANES void load_rows(const Source* b, int64_t, Operand* out) { load_packed(b, out); }
  ASSAY_LANES void load_packed(const Source* b, Operand* out) {
    widen(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(b)), out);
  }
  ASSAY_LANES void store_packed(Source* b, const Operand* v) {
    const __m256i even = _mm256_srli_epi32(_mm256_castps_si256(v[0]), 16);
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(b),
                        _mm256_or_si256(even, _mm256_castps_si256(v[1])));
  }
  ASSAY_LANES Accumulator fma(Operand a, Operand b, Accumulator c) {
    return _mm256_fmadd_ps(a, b, c);
  }
  ASSAY_LANES void linear(Accumulator* v) {
    const Accumulator low = _mm256_unpacklo_ps(v[0], v[1]);
    const Accumulator high = _mm256_unpackhi_ps(v[0], v[1]);
    v[0] = _mm256_permute2f128_ps(low, high, 0x20);
    v[1] = _mm256_permute2f128_ps(low, high, 0x31);
  }
  static constexpr bool kTransposes = false;
  static constexpr int kDotOperands = 2;
  ASSAY_LANES void load_dot(const Source* p, Operand* out) { load_packed(p, out); }
  ASSAY_LANES void load_dot_a(const Source* p, Operand* out) { load_dot(p, out); }
  // AVX2 has no masked load of two-byte elements.
  ASSAY_LANES void load_dot_tail(const Source* p, int count, Operand* out) {
    alignas(32) Source whole[kDot] = {};
    std::memcpy(whole, p, sizeof(Source) * static_cast<size_t>(count));
    load_packed(whole, out);
  }
};

struct F16Avx2 : Avx2 {
  using Source = Half;
  using PackedA = float;
  using Operand = __m256;
  static constexpr int kGroup = 1, kStep = 1, kColumns = 8, kPackedGroup = 8, kDot = 8;
  ASSAY_LANES __m128i narrow(Accumulator v) {
    return _mm256_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
  }
  ASSAY_LANES void store_narrow(uint16_t* p, Accumulator v) {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(p), narrow(v));
  }
  ASSAY_LANES PackedA packed(const Source* values) { return _cvtsh_ss(values->bits); }
  ASSAY_LANES Operand broadcast(const PackedA* a) { return _mm256_broadcast_ss(a); }
  ASSAY_LANES void load_packed(const Source* b, Operand* out) {
    out[0] = _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(b)));
  }
  ASSAY_LANES void load_rows(const Source* b, int64_t, Operand* out) { load_packed(b, out); }
  ASSAY_LANES void store_packed(Source* b, const Operand* v) {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(b), narrow(v[0]));
  }
  ASSAY_LANES Accumulator fma(Operand a, Operand b, Accumulator c) {
    return _mm256_fmadd_ps(a, b, c);
  }
  ASSAY_LANES void linear(Accumulator*) {}
  static constexpr bool kTransposes = false;
  static constexpr int kDotOperands = 1;
  ASSAY_LANES void load_dot(const Source* p, Operand* out) { load_packed(p, out); }
  ASSAY_LANES void load_dot_a(const Source* p, Operand* out) { load_dot(p, out); }
  ASSAY_LANES void load_dot_tail(const Source* p, int count, Operand* out) {
    Source whole[kDot] = {};
    std::memcpy(whole, p, sizeof(Source) * static_cast<size_t>(count));
    load_packed(whole, out);
  }
};

// Sums of s8 products: exact, since pairs of products fit in s32 and s32 wraps.
struct S32Avx2 {
  using Accumulator = __m256i;
  using Sum = int32_t;
  static constexpr int kLanes = 8;
  static constexpr int kRegisters = 16;
  static constexpr Sum kOffset = 0;
  ASSAY_LANES Accumulator zero() { return _mm256_setzero_si256(); }
  ASSAY_LANES Accumulator load(const Sum* p) {
    return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p));
  }
  ASSAY_LANES void store(Sum* p, Accumulator v) {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), v);
  }
  ASSAY_LANES Accumulator splat(Sum x) { return _mm256_set1_epi32(x); }
  ASSAY_LANES Accumulator multiply(Accumulator a, Accumulator b) {
    return _mm256_mullo_epi32(a, b);
  }
  ASSAY_LANES Accumulator add(Accumulator a, Accumulator b) { return _mm256_add_epi32(a, b); }
  ASSAY_LANES Accumulator multiply_add(Accumulator a, Accumulator b, Accumulator c) {
    return add(multiply(a, b), c);
  }
  ASSAY_LANES void sum_lanes(const Sum* vectors, int64_t count, Sum* out) {
    for (int64_t i = 0; i < count; ++i) {
      const Accumulator v = load(vectors + i * kLanes);
      __m128i s = _mm_add_epi32(_mm256_castsi256_si128(v), _mm256_extracti128_si256(v, 1));
      s = _mm_add_epi32(s, _mm_shuffle_epi32(s, 0x4e));
      out[i] = _mm_cvtsi128_si32(_mm_add_epi32(s, _mm_shuffle_epi32(s, 0xb1)));
    }
  }
};

// s8 widened to s16, pairs of k against pairs of k.
struct S8Avx2 : S32Avx2 {
  using Source = int8_t;
  using PackedA = uint32_t;  // A pair of k in s16.
  using Operand = __m256i;
  static constexpr int kGroup = 2, kStep = 2, kColumns = 16, kPackedGroup = 32, kDot = 16;
  ASSAY_LANES PackedA packed(const Source* values) {
    return uint32_t{static_cast<uint16_t>(values[0])} | uint32_t{static_cast<uint16_t>(values[1])}
                                                            << 16;
  }
  ASSAY_LANES Operand broadcast(const PackedA* a) {
    return _mm256_set1_epi32(static_cast<int>(*a));
  }
  ASSAY_LANES __m128i sixteen(const Source* p) {
    return _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
  }
  ASSAY_LANES void load_rows(const Source* b, int64_t stride, Operand* out) {
    const __m128i even = sixteen(b), odd = sixteen(b + stride);
    out[0] = _mm256_cvtepi8_epi16(_mm_unpacklo_epi8(even, odd));
    out[1] = _mm256_cvtepi8_epi16(_mm_unpackhi_epi8(even, odd));
  }
  ASSAY_LANES void load_packed(const Source* b, Operand* out) {
    out[0] = _mm256_cvtepi8_epi16(sixteen(b));
    out[1] = _mm256_cvtepi8_epi16(sixteen(b + 16));
  }
  ASSAY_LANES void store_packed(Source* b, const Operand* v) {
#pragma GCC unroll 2
    for (int i = 0; i < kGroup; ++i)
      _mm_storeu_si128(
          reinterpret_cast<__m128i*>(b + 16 * i),
          _mm_packs_epi16(_mm256_castsi256_si128(v[i]), _mm256_extracti128_si256(v[i], 1)));
  }
  ASSAY_LANES Accumulator fma(Operand a, Operand b, Accumulator c) {
    return _mm256_add_epi32(c, _mm256_madd_epi16(a, b));
  }
  ASSAY_LANES void linear(Accumulator*) {}
  static constexpr bool kTransposes = false;
  static constexpr int kDotOperands = 1;
  ASSAY_LANES void load_dot(const Source* p, Operand* out) {
    out[0] = _mm256_cvtepi8_epi16(sixteen(p));
  }
  ASSAY_LANES void load_dot_a(const Source* p, Operand* out) { load_dot(p, out); }
  ASSAY_LANES void load_dot_tail(const Source* p, int count, Operand* out) {
    Source whole[kDot] = {};
    std::memcpy(whole, p, static_cast<size_t>(count));
    load_dot(whole, out);
  }
};

}  // namespace assay::native_cpu

#pragma GCC pop_options
#undef ASSAY_LANES
