#pragma once

// 64-bit arithmetic on sizes that users wrote: overflow is nullopt, never a wrapped number.

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>

namespace assay {

constexpr std::optional<std::int64_t> checked_add(std::int64_t a, std::int64_t b) {
  std::int64_t result = 0;
  if (__builtin_add_overflow(a, b, &result)) return std::nullopt;
  return result;
}

constexpr std::optional<std::int64_t> checked_sub(std::int64_t a, std::int64_t b) {
  std::int64_t result = 0;
  if (__builtin_sub_overflow(a, b, &result)) return std::nullopt;
  return result;
}

constexpr std::optional<std::int64_t> checked_mul(std::int64_t a, std::int64_t b) {
  std::int64_t result = 0;
  if (__builtin_mul_overflow(a, b, &result)) return std::nullopt;
  return result;
}

// 1 for no factors. A zero does not excuse an overflow elsewhere unless it comes first.
constexpr std::optional<std::int64_t> checked_product(std::span<const std::int64_t> factors) {
  std::optional<std::int64_t> product = 1;
  for (std::int64_t factor : factors) {
    product = checked_mul(*product, factor);
    if (!product) return std::nullopt;
  }
  return product;
}

constexpr std::optional<std::int64_t> checked_product(std::initializer_list<std::int64_t> factors) {
  return checked_product(std::span<const std::int64_t>(factors.begin(), factors.size()));
}

}  // namespace assay
