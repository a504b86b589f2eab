// Numbers of each type, as the callers of an exported kernel and its reference read them. What the
// problem is stands in problem.h.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "problem.h"

namespace {

using problem::Operand;
using problem::Type;

std::int64_t bytes_of(Type type) {
  switch (type) {
    case Type::f64:
      return 8;
    case Type::f32:
    case Type::s32:
      return 4;
    case Type::bf16:
    case Type::f16:
      return 2;
    case Type::s8:
      return 1;
  }
  return 0;
}

double f16_value(std::uint16_t bits) {
  const int exponent = bits >> 10 & 31, fraction = bits & 1023;
  const double size = exponent == 0    ? std::ldexp(fraction, -24)
                      : exponent == 31 ? (fraction == 0 ? HUGE_VAL : std::nan(""))
                                       : std::ldexp(fraction + 1024, exponent - 25);
  return (bits & 0x8000) != 0 ? -size : size;
}

template <class T>
T read_as(const void* at) {
  T value;
  std::memcpy(&value, at, sizeof(T));
  return value;
}

long double get(const std::byte* at, Type type) {
  switch (type) {
    case Type::f64:
      return read_as<double>(at);
    case Type::f32:
      return read_as<float>(at);
    case Type::bf16: {
      const std::uint32_t bits = std::uint32_t{read_as<std::uint16_t>(at)} << 16;
      return read_as<float>(&bits);
    }
    case Type::f16:
      return f16_value(read_as<std::uint16_t>(at));
    case Type::s8:
      return read_as<std::int8_t>(at);
    case Type::s32:
      return read_as<std::int32_t>(at);
  }
  return 0;
}

std::int64_t elements_of(const Operand& operand) {
  std::int64_t elements = 1;
  for (int i = 0; i < operand.rank; ++i) elements *= operand.sizes[i];
  return elements;
}

// The one at that place, in elements from the first.
[[maybe_unused]] long double element(Type type, const void* data, std::int64_t place) {
  return get(static_cast<const std::byte*>(data) + place * bytes_of(type), type);
}

}  // namespace

namespace problem {

// What an element is to be, and how far a right kernel's may be from it. any: whatever it is.
struct Expected {
  long double value = 0, allowed = 0;
  bool any = false;
};

}  // namespace problem
