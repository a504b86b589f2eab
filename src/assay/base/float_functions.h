#pragma once

// Functions of float32 that a compiler makes vectors of: no calls, no tables, no branches. Always
// inlined, so that they are compiled for what their caller is compiled for; this header includes
// nothing of ours, since exported kernels take it along.

#include <cstdint>
#include <cstring>

namespace assay {

// e^x, within two units in the last place, for x from -87 to 88; beyond it as at the ends.
// Cody and Waite's reduction, and the first terms of the series of the rest.
[[gnu::always_inline]] inline float fast_exponential(float x) {
  constexpr float kMost = 88.0f, kLeast = -87.0f, kRound = 12582912.0f;  // 1.5 x 2^23.
  x = x < kLeast ? kLeast : x;
  x = x > kMost ? kMost : x;
  const float shifted = x * 1.44269504088896341f + kRound, whole = shifted - kRound;
  const float rest = (x - whole * 0.693359375f) + whole * 2.12194440e-4f;
  float series = 1.0f / 5040;
  series = series * rest + 1.0f / 720;
  series = series * rest + 1.0f / 120;
  series = series * rest + 1.0f / 24;
  series = series * rest + 1.0f / 6;
  series = series * rest + 0.5f;
  series = series * rest * rest + rest + 1.0f;
  int32_t bits;
  std::memcpy(&bits, &shifted, sizeof(bits));
  const auto power = static_cast<int32_t>(static_cast<uint32_t>(bits - 0x4b400000 + 127) << 23);
  float scale;
  std::memcpy(&scale, &power, sizeof(scale));
  return series * scale;
}

// x Phi(x), by erfc's approximation 7.1.26 of Abramowitz and Stegun, Handbook of Mathematical
// Functions, 1964: within 1.5e-7 of erf.
[[gnu::always_inline]] inline float fast_gelu(float x) {
  const float size = (x < 0 ? -x : x) * 0.70710678118654752f;
  const float t = 1.0f / (1.0f + 0.3275911f * size);
  float sum = 1.061405429f;
  sum = sum * t - 1.453152027f;
  sum = sum * t + 1.421413741f;
  sum = sum * t - 0.284496736f;
  sum = sum * t + 0.254829592f;
  const float half = 0.5f * sum * t * fast_exponential(-size * size);  // erfc(size) / 2.
  return x * (x < 0 ? half : 1.0f - half);
}

[[gnu::always_inline]] inline float fast_silu(float x) { return x / (1.0f + fast_exponential(-x)); }

// x / 2 (1 + tanh(y)) = x / (1 + exp(-2 y)).
[[gnu::always_inline]] inline float fast_gelu_tanh(float x) {
  const float y = 0.79788456080286536f * (x + 0.044715f * x * x * x);
  return x / (1.0f + fast_exponential(-2.0f * y));
}

}  // namespace assay
