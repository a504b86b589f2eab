#include <immintrin.h>

#include "norm_call.h"

#pragma GCC push_options
#pragma GCC target("avx512f,avx512bw,avx512vl,avx512dq,fma,f16c")

#include "norm_rows.h"

namespace assay::native_cpu {
namespace {

struct Avx512Norm {
  using V = __m512;
  static constexpr int64_t kLanes = 16;
  struct Bf16 {
    uint16_t bits;
  };
  struct F16 {
    uint16_t bits;
  };
  static V splat(float value) { return _mm512_set1_ps(value); }
  static V add(V a, V b) { return _mm512_add_ps(a, b); }
  static V multiply(V a, V b) { return _mm512_mul_ps(a, b); }
  static V fma(V a, V b, V c) { return _mm512_fmadd_ps(a, b, c); }
  static float sum(V v) { return _mm512_reduce_add_ps(v); }

  static __m256i halves(const void* from) {
    return _mm256_loadu_si256(static_cast<const __m256i*>(from));
  }
  static V load(const float* from) { return _mm512_loadu_ps(from); }
  static V load(const Bf16* from) {
    return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(halves(from)), 16));
  }
  static V load(const F16* from) { return _mm512_cvtph_ps(halves(from)); }

  static void store(float* to, V v) { _mm512_storeu_ps(to, v); }
  // To the nearest, in integers: the processor's own conversion flushes subnormal numbers.
  static void store(Bf16* to, V v) {
    const __m512i bits = _mm512_castps_si512(v);
    const __m512i odd = _mm512_and_si512(_mm512_srli_epi32(bits, 16), _mm512_set1_epi32(1));
    __m512i rounded = _mm512_add_epi32(bits, _mm512_add_epi32(odd, _mm512_set1_epi32(0x7fff)));
    const __mmask16 nan = _mm512_cmp_ps_mask(v, v, _CMP_UNORD_Q);
    rounded = _mm512_mask_or_epi32(rounded, nan, bits, _mm512_set1_epi32(0x400000));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to),
                        _mm512_cvtepi32_epi16(_mm512_srli_epi32(rounded, 16)));
  }
  static void store(F16* to, V v) {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to),
                        _mm512_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
  }
};

}  // namespace

NormRows* find_norm_avx512(Element x, Element w) { return find_norm<Avx512Norm>(x, w); }

}  // namespace assay::native_cpu

#pragma GCC pop_options
