#include "assay/tensor/dtype.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "assay/base/choices.h"
#include "assay/base/text.h"

namespace assay {
namespace {

// Significand bits count the implicit one; max_finite of the 8-bit floats is that of the OCP
// formats (e4m3 has no infinity and uses its top exponent).
constexpr std::array kTable = {
    DTypeInfo{DType::f64, "f64", 64, true, true, 53, 0x1.fffffffffffffp1023},
    DTypeInfo{DType::f32, "f32", 32, true, true, 24, 0x1.fffffep127},
    DTypeInfo{DType::f16, "f16", 16, true, true, 11, 65504},
    DTypeInfo{DType::bf16, "bf16", 16, true, true, 8, 0x1.fep127},
    DTypeInfo{DType::s8, "s8", 8, true, false, 7, 127},
    DTypeInfo{DType::s32, "s32", 32, true, false, 31, 2147483647},
    DTypeInfo{DType::tf32, "tf32", 32, false, true, 11, 0x1.ffcp127},
    DTypeInfo{DType::f8_e4m3, "f8_e4m3", 8, false, true, 4, 448},
    DTypeInfo{DType::f8_e5m2, "f8_e5m2", 8, false, true, 3, 57344},
    DTypeInfo{DType::f4_e2m1, "f4_e2m1", 4, false, true, 2, 6},
    DTypeInfo{DType::u8, "u8", 8, false, false, 8, 255},
    DTypeInfo{DType::s4, "s4", 4, false, false, 3, 7},
    DTypeInfo{DType::s16, "s16", 16, false, false, 15, 32767},
    DTypeInfo{DType::s64, "s64", 64, false, false, 63, 0x1p63},
    DTypeInfo{DType::boolean, "bool", 8, false, false, 1, 1},
};

struct Alias {
  std::string_view alias;
  DType dtype;
};
constexpr std::array kAliases = {
    Alias{"fp64", DType::f64},
    Alias{"float64", DType::f64},
    Alias{"double", DType::f64},
    Alias{"fp32", DType::f32},
    Alias{"float32", DType::f32},
    Alias{"float", DType::f32},
    Alias{"single", DType::f32},
    Alias{"fp16", DType::f16},
    Alias{"float16", DType::f16},
    Alias{"half", DType::f16},
    Alias{"bfloat16", DType::bf16},
    Alias{"int8", DType::s8},
    Alias{"i8", DType::s8},
    Alias{"int32", DType::s32},
    Alias{"i32", DType::s32},
    Alias{"e4m3", DType::f8_e4m3},
    Alias{"fp8_e4m3", DType::f8_e4m3},
    Alias{"float8_e4m3fn", DType::f8_e4m3},
    Alias{"e5m2", DType::f8_e5m2},
    Alias{"fp8_e5m2", DType::f8_e5m2},
    Alias{"float8_e5m2", DType::f8_e5m2},
    Alias{"e2m1", DType::f4_e2m1},
    Alias{"fp4_e2m1", DType::f4_e2m1},
    Alias{"uint8", DType::u8},
    Alias{"int4", DType::s4},
    Alias{"int16", DType::s16},
    Alias{"int64", DType::s64},
    Alias{"boolean", DType::boolean},
};

// Below, a float format of `Mantissa` stored bits and `Exponent` exponent bits, in IEEE order.
// Selects instead of branches, so that loops vectorise; no subnormal double ever arises, so that
// flushing them cannot change a result.
template <int Mantissa, int Exponent>
struct Format {
  static constexpr int kShift = 52 - Mantissa;
  static constexpr int kBias = (1 << (Exponent - 1)) - 1;
  static constexpr uint64_t kInfinity = ((uint64_t{1} << Exponent) - 1) << Mantissa;
  static constexpr uint64_t kQuiet = uint64_t{1} << (Mantissa - 1);
  static constexpr int kSign = Mantissa + Exponent;
  static constexpr uint64_t kRebias = static_cast<uint64_t>(1023 - kBias) << Mantissa;
  // Bits of the smallest normal number as a double.
  static constexpr uint64_t kMinNormal = static_cast<uint64_t>(1024 - kBias) << 52;
  static constexpr double kMinSubnormal =
      std::bit_cast<double>(static_cast<uint64_t>(1024 - kBias - Mantissa) << 52);

  static uint64_t encode(double value) {
    const uint64_t bits = std::bit_cast<uint64_t>(value);
    const uint64_t magnitude = bits & 0x7fffffffffffffff;
    const uint64_t odd = magnitude >> kShift & 1;
    const uint64_t half = (uint64_t{1} << (kShift - 1)) - 1;
    const uint64_t normal = ((magnitude + half + odd) >> kShift) - kRebias;
    // Adding a power of two whose last bit weighs one subnormal step makes the adder round to it.
    constexpr double kAlign = kMinSubnormal * 0x1p52;
    const uint64_t subnormal = std::bit_cast<uint64_t>(std::bit_cast<double>(magnitude) + kAlign) -
                               std::bit_cast<uint64_t>(kAlign);
    uint64_t code = magnitude < kMinNormal ? subnormal : normal;
    code = code > kInfinity ? kInfinity : code;
    code = magnitude > 0x7ff0000000000000 ? (kInfinity | kQuiet) : code;
    return code | bits >> 63 << kSign;
  }

  static double decode(uint64_t code) {
    const uint64_t magnitude = code & ((uint64_t{1} << kSign) - 1);
    const uint64_t normal = (magnitude + kRebias) << kShift;
    const double subnormal = static_cast<double>(static_cast<int32_t>(magnitude)) * kMinSubnormal;
    uint64_t bits =
        magnitude < (uint64_t{1} << Mantissa) ? std::bit_cast<uint64_t>(subnormal) : normal;
    bits = magnitude >= kInfinity ? 0x7ff0000000000000 | magnitude << kShift : bits;
    return std::bit_cast<double>(bits | code >> kSign << 63);
  }
};
using Half = Format<10, 5>;
using Brain = Format<7, 8>;

template <class Integer>
Integer saturate(double value) {
  constexpr double kLow = std::numeric_limits<Integer>::min();
  constexpr double kHigh = std::numeric_limits<Integer>::max();
  double clamped = value < kLow ? kLow : value;
  clamped = clamped > kHigh ? kHigh : clamped;
  clamped = value == value ? clamped : 0;
  // 1.5 * 2^52 has a last bit of one: adding it rounds to the nearest even integer.
  return static_cast<Integer>((clamped + 0x1.8p52) - 0x1.8p52);
}

// One codec per supported type: how an element is stored, and how it converts.
template <DType>
struct Codec;
template <>
struct Codec<DType::f64> {
  using Stored = double;
  static double decode(Stored stored) { return stored; }
  static Stored encode(double value) { return value; }
};
template <>
struct Codec<DType::f32> {
  using Stored = float;
  static double decode(Stored stored) { return stored; }
  static Stored encode(double value) { return static_cast<float>(value); }
};
template <>
struct Codec<DType::f16> {
  using Stored = uint16_t;
  static double decode(Stored stored) { return Half::decode(stored); }
  static Stored encode(double value) { return static_cast<uint16_t>(Half::encode(value)); }
};
template <>
struct Codec<DType::bf16> {
  using Stored = uint16_t;
  // Every bf16 is the upper half of a float.
  static double decode(Stored stored) {
    return std::bit_cast<float>(static_cast<uint32_t>(stored) << 16);
  }
  static Stored encode(double value) { return static_cast<uint16_t>(Brain::encode(value)); }
};
template <>
struct Codec<DType::s8> {
  using Stored = int8_t;
  static double decode(Stored stored) { return stored; }
  static Stored encode(double value) { return saturate<int8_t>(value); }
};
template <>
struct Codec<DType::s32> {
  using Stored = int32_t;
  static double decode(Stored stored) { return stored; }
  static Stored encode(double value) { return saturate<int32_t>(value); }
};

// Calls use(Codec<dtype>{}); false for types that are names only.
template <class Use>
bool with_codec(DType dtype, Use use) {
  switch (dtype) {
    case DType::f64:
      use(Codec<DType::f64>{});
      return true;
    case DType::f32:
      use(Codec<DType::f32>{});
      return true;
    case DType::f16:
      use(Codec<DType::f16>{});
      return true;
    case DType::bf16:
      use(Codec<DType::bf16>{});
      return true;
    case DType::s8:
      use(Codec<DType::s8>{});
      return true;
    case DType::s32:
      use(Codec<DType::s32>{});
      return true;
    default:
      return false;
  }
}

}  // namespace

const DTypeInfo& info(DType dtype) {
  const size_t index = static_cast<size_t>(dtype);
  return kTable[index < kTable.size() ? index : 0];
}

std::string_view to_string(DType dtype) { return info(dtype).name; }

std::span<const DTypeInfo> all_dtypes() { return kTable; }

std::optional<DType> find_dtype(std::string_view name) {
  for (const DTypeInfo& row : kTable)
    if (row.name == name) return row.dtype;
  for (const Alias& row : kAliases)
    if (row.alias == name) return row.dtype;
  return std::nullopt;
}

Result<DType> parse_dtype(std::string_view name) {
  if (auto found = find_dtype(name)) return *found;
  std::vector<std::string> known, supported;
  for (const DTypeInfo& row : kTable) {
    known.emplace_back(row.name);
    if (row.supported) supported.emplace_back(row.name);
  }
  for (const Alias& row : kAliases) known.emplace_back(row.alias);
  return fail(ErrorCode::invalid_input, "'{}' is no element type{}", sanitize(name, 60),
              did_you_mean(name, known, "there are " + join(supported, ", ")));
}

double epsilon(DType dtype) {
  const DTypeInfo& row = info(dtype);
  return row.floating ? std::ldexp(1.0, 1 - row.significand_bits) : 0;
}

double load_as_double(DType dtype, const void* element) {
  double value = std::numeric_limits<double>::quiet_NaN();
  convert_to_double(dtype, element, 1, &value);
  return value;
}

void store_from_double(DType dtype, double value, void* element) {
  convert_from_double(dtype, &value, 1, element);
}

double round_to(DType dtype, double value) {
  with_codec(dtype, [&](auto codec) { value = codec.decode(codec.encode(value)); });
  return value;
}

void convert_to_double(DType dtype, const void* elements, int64_t count, double* out) {
  with_codec(dtype, [&](auto codec) {
    using Stored = typename decltype(codec)::Stored;
    const std::byte* bytes = static_cast<const std::byte*>(elements);
    for (int64_t i = 0; i < count; ++i) {
      Stored stored;  // memcpy: a caller's tensor need not be aligned to its elements.
      std::memcpy(&stored, bytes + i * static_cast<int64_t>(sizeof(Stored)), sizeof(Stored));
      out[i] = codec.decode(stored);
    }
  });
}

void convert_from_double(DType dtype, const double* values, int64_t count, void* out) {
  with_codec(dtype, [&](auto codec) {
    using Stored = typename decltype(codec)::Stored;
    std::byte* bytes = static_cast<std::byte*>(out);
    for (int64_t i = 0; i < count; ++i) {
      const Stored stored = codec.encode(values[i]);
      std::memcpy(bytes + i * static_cast<int64_t>(sizeof(Stored)), &stored, sizeof(Stored));
    }
  });
}

}  // namespace assay
