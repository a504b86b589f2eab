#pragma once

// The bf16 dot-product instruction: pairs of k against pairs of k, summed in f32. It treats
// denormals as zero, which the widening modes do not.

#include "simd_avx512.h"

#pragma GCC push_options
#pragma GCC target("avx512f,avx512bw,avx512vl,avx512dq,avx512bf16,fma,f16c")
#define ASSAY_LANES [[gnu::always_inline]] static inline

namespace assay::native_cpu {

// Interleaving two rows stays within 128-bit lanes, so a group holds columns 0-3, 8-11, ... first.
struct DotAvx512 : Avx512 {
  using Source = uint16_t;
  using PackedA = uint32_t;  // A pair of k.
  using Operand = __m512i;
  static constexpr int kGroup = 2, kStep = 2, kColumns = 32, kPackedGroup = 64, kDot = 32;
  ASSAY_LANES PackedA packed(const Source* values) {
    return uint32_t{values[0]} | uint32_t{values[1]} << 16;
  }
  ASSAY_LANES Operand broadcast(const PackedA* a) {
    return _mm512_set1_epi32(static_cast<int>(*a));
  }
  ASSAY_LANES void load_rows(const Source* b, int64_t stride, Operand* out) {
    const __m512i even = _mm512_loadu_si512(b), odd = _mm512_loadu_si512(b + stride);
    out[0] = _mm512_unpacklo_epi16(even, odd);
    out[1] = _mm512_unpackhi_epi16(even, odd);
  }
  ASSAY_LANES void load_packed(const Source* b, Operand* out) {
    out[0] = _mm512_loadu_si512(b);
    out[1] = _mm512_loadu_si512(b + 32);
  }
  ASSAY_LANES void store_packed(Source* b, const Operand* v) {
    _mm512_storeu_si512(b, v[0]);
    _mm512_storeu_si512(b + 32, v[1]);
  }
  ASSAY_LANES Accumulator fma(Operand a, Operand b, Accumulator c) {
    return _mm512_dpbf16_ps(c, (__m512bh)a, (__m512bh)b);
  }
  ASSAY_LANES void linear(Accumulator* v) {
    const __m512i low = _mm512_setr_epi32(0, 1, 2, 3, 16, 17, 18, 19, 4, 5, 6, 7, 20, 21, 22, 23);
    const __m512i high = _mm512_add_epi32(low, _mm512_set1_epi32(8));
    const Accumulator first = v[0];
    v[0] = _mm512_permutex2var_ps(first, low, v[1]);
    v[1] = _mm512_permutex2var_ps(first, high, v[1]);
  }
  static constexpr bool kTransposes = true;
  ASSAY_LANES int column_of(int vector, int lane) { return lane / 4 * 8 + vector * 4 + lane % 4; }
  ASSAY_LANES void store_vector(Source* p, Operand v) { _mm512_storeu_si512(p, v); }
  ASSAY_LANES void transpose(Operand* lines) { transpose_words(lines); }
  static constexpr int kDotOperands = 1;
  ASSAY_LANES void load_dot(const Source* p, Operand* out) { out[0] = _mm512_loadu_si512(p); }
  ASSAY_LANES void load_dot_a(const Source* p, Operand* out) { load_dot(p, out); }
  ASSAY_LANES void load_dot_tail(const Source* p, int count, Operand* out) {
    out[0] = _mm512_maskz_loadu_epi16(static_cast<__mmask32>((1ull << count) - 1), p);
  }
};

}  // namespace assay::native_cpu

#pragma GCC pop_options
#undef ASSAY_LANES
