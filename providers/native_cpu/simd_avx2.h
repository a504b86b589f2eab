#pragma once

// The arithmetic of AVX2 with FMA; see simd_avx512.h for what a mode is.

#include <immintrin.h>

#include "gemm_call.h"

#pragma GCC push_options
#pragma GCC target("avx2,fma")
#define ASSAY_LANES [[gnu::always_inline]] static inline

namespace assay::native_cpu {

struct Avx2 {
  using Accumulator = __m256;
  static constexpr int kLanes = 8;
  static constexpr int kRegisters = 16;
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
  ASSAY_LANES Accumulator load_bf16(const uint16_t* p) {
    const __m128i half = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
    return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(half), 16));
  }
  ASSAY_LANES void store_bf16(uint16_t* p, Accumulator v) {
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
  // AVX2 has no masked load of two-byte elements.
  ASSAY_LANES void load_dot_tail(const Source* p, int count, Operand* out) {
    alignas(32) Source whole[kDot] = {};
    std::memcpy(whole, p, sizeof(Source) * static_cast<size_t>(count));
    load_packed(whole, out);
  }
};

}  // namespace assay::native_cpu

#pragma GCC pop_options
#undef ASSAY_LANES
