#include <immintrin.h>

#include "norm_call.h"

#pragma GCC push_options
#pragma GCC target("avx2,fma,f16c")

#include "norm_rows.h"

namespace assay::native_cpu {
namespace {

struct Avx2Norm {
  using V = __m256;
  static constexpr int64_t kLanes = 8;
  struct Bf16 {
    uint16_t bits;
  };
  struct F16 {
    uint16_t bits;
  };
  static V splat(float value) { return _mm256_set1_ps(value); }
  static V add(V a, V b) { return _mm256_add_ps(a, b); }
  static V multiply(V a, V b) { return _mm256_mul_ps(a, b); }
  static V fma(V a, V b, V c) { return _mm256_fmadd_ps(a, b, c); }
  static float sum(V v) {
    __m128 s = _mm_add_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps(v, 1));
    s = _mm_add_ps(s, _mm_movehl_ps(s, s));
    return _mm_cvtss_f32(_mm_add_ss(s, _mm_movehdup_ps(s)));
  }

  static __m128i halves(const void* from) {
    return _mm_loadu_si128(static_cast<const __m128i*>(from));
  }
  static V load(const float* from) { return _mm256_loadu_ps(from); }
  static V load(const Bf16* from) {
    return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(halves(from)), 16));
  }
  static V load(const F16* from) { return _mm256_cvtph_ps(halves(from)); }

  static void store(float* to, V v) { _mm256_storeu_ps(to, v); }
  static void store(Bf16* to, V v) {
    const __m256i bits = _mm256_castps_si256(v);
    const __m256i odd = _mm256_and_si256(_mm256_srli_epi32(bits, 16), _mm256_set1_epi32(1));
    __m256i rounded = _mm256_add_epi32(bits, _mm256_add_epi32(odd, _mm256_set1_epi32(0x7fff)));
    const __m256i nan = _mm256_castps_si256(_mm256_cmp_ps(v, v, _CMP_UNORD_Q));
    rounded = _mm256_blendv_epi8(rounded, _mm256_or_si256(bits, _mm256_set1_epi32(0x400000)), nan);
    rounded = _mm256_srli_epi32(rounded, 16);
    _mm_storeu_si128(
        reinterpret_cast<__m128i*>(to),
        _mm_packus_epi32(_mm256_castsi256_si128(rounded), _mm256_extracti128_si256(rounded, 1)));
  }
  static void store(F16* to, V v) {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to),
                     _mm256_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
  }
};

}  // namespace

NormRows* find_norm_avx2(Element x, Element w) { return find_norm<Avx2Norm>(x, w); }

}  // namespace assay::native_cpu

#pragma GCC pop_options
