#pragma once

// One element at a time. Plain functions: to be included before a file switches its target on, so
// that no copy of them holds instructions that another machine lacks.

#include <type_traits>

#include "gemm_call.h"

namespace assay::native_cpu {

inline float float_of(uint16_t bf16) {
  const uint32_t bits = static_cast<uint32_t>(bf16) << 16;
  float value;
  std::memcpy(&value, &bits, sizeof(value));
  return value;
}
inline float float_of(float value) { return value; }

inline uint16_t bf16_of(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  if (value != value) return static_cast<uint16_t>((bits | 0x400000) >> 16);
  return static_cast<uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

// A value of f16: a type of its own, where bf16 is a bare uint16_t.
struct Half {
  uint16_t bits = 0;
};

inline float float_of(Half half) {
  // With the fields of f16 in their places of f32 all values, denormals too, are 2^112 too small.
  uint32_t bits = (half.bits & 0x7fffu) << 13;
  float value;
  std::memcpy(&value, &bits, sizeof(value));
  value *= 0x1p112f;
  const bool finite = value < 0x1p16f;
  if (finite) std::memcpy(&bits, &value, sizeof(bits));
  bits |= (finite ? 0 : 0x7f800000u) | (half.bits & 0x8000u) << 16;
  std::memcpy(&value, &bits, sizeof(value));
  return value;
}

// Rounds to nearest even.
inline Half half_of(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  const auto sign = static_cast<uint16_t>(bits >> 16 & 0x8000);
  bits &= 0x7fffffff;
  uint32_t rounded;
  if (bits > 0x7f800000) {
    rounded = 0x7e00 | (bits >> 13 & 0x3ff);
  } else if (bits >= 0x477ff000) {  // 65520, halfway to the power of two above the largest value.
    rounded = 0x7c00;
  } else if (bits < 0x38800000) {  // Below 2^-14: the last place of f16 is then that of 1/2 in f32.
    float shifted;
    std::memcpy(&shifted, &bits, sizeof(shifted));
    shifted += 0.5f;
    std::memcpy(&rounded, &shifted, sizeof(rounded));
    rounded -= 0x3f000000;
  } else {
    rounded = (bits + 0xfff + (bits >> 13 & 1) - 0x38000000) >> 13;
  }
  return {static_cast<uint16_t>(sign | rounded)};
}

// Integers wrap: sums of s8 products may leave s32 on their way to a result that does not.
inline float product(float a, float b) { return a * b; }
inline float sum(float a, float b) { return a + b; }
inline int32_t product(int32_t a, int32_t b) {
  return static_cast<int32_t>(static_cast<uint32_t>(a) * static_cast<uint32_t>(b));
}
inline int32_t sum(int32_t a, int32_t b) {
  return static_cast<int32_t>(static_cast<uint32_t>(a) + static_cast<uint32_t>(b));
}

// alpha and beta in the type of the sums.
template <class Sum>
Sum alpha_of(const GemmCall& call) {
  if constexpr (std::is_same_v<Sum, int32_t>)
    return call.whole_alpha;
  else
    return call.alpha;
}
template <class Sum>
Sum beta_of(const GemmCall& call) {
  if constexpr (std::is_same_v<Sum, int32_t>)
    return call.whole_beta;
  else
    return call.beta;
}

// One element of out or c, whose type is `element`.
template <class Sum>
Sum read_element(Element element, const void* data, int64_t index) {
  if constexpr (!std::is_same_v<Sum, int32_t>) {
    if (element == Element::bf16) return float_of(static_cast<const uint16_t*>(data)[index]);
    if (element == Element::f16) return float_of(static_cast<const Half*>(data)[index]);
  }
  return static_cast<const Sum*>(data)[index];
}
template <class Sum>
void write_element(Element element, void* data, int64_t index, Sum value) {
  if constexpr (!std::is_same_v<Sum, int32_t>) {
    if (element == Element::bf16) {
      static_cast<uint16_t*>(data)[index] = bf16_of(value);
      return;
    }
    if (element == Element::f16) {
      static_cast<Half*>(data)[index] = half_of(value);
      return;
    }
  }
  static_cast<Sum*>(data)[index] = value;
}

// out = alpha * total + beta * c for one element.
template <class Sum>
void store_one(const GemmCall& call, int64_t batch, int64_t row, int64_t column, Sum total) {
  Sum value = product(alpha_of<Sum>(call), total);
  if (call.beta != 0) {
    const int64_t from = batch * call.c_batch + row * call.c_row + column * call.c_column;
    value = sum(value, product(beta_of<Sum>(call), read_element<Sum>(call.out, call.c, from)));
  }
  write_element(call.out, call.d, batch * call.d_batch + row * call.d_row + column * call.d_column,
                value);
}

}  // namespace assay::native_cpu
