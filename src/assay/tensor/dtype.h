#pragma once

// Element types. Those without arithmetic support are known by name, so that asking for one is
// refused with a reason rather than mistaken for a typing error.

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "assay/base/result.h"

namespace assay {

enum class DType : uint8_t {
  // Supported.
  f64,
  f32,
  f16,
  bf16,
  s8,
  s32,
  // Names only.
  tf32,
  f8_e4m3,
  f8_e5m2,
  f4_e2m1,
  u8,
  s4,
  s16,
  s64,
  boolean,
};

struct DTypeInfo {
  DType dtype;
  std::string_view name;
  int bits;
  bool supported;  // We can generate, reference and compare values of it.
  bool floating;
  int significand_bits;  // Including the implicit one; for integers the number of value bits.
  double max_finite;
};

const DTypeInfo& info(DType dtype);
std::string_view to_string(DType dtype);
// Also common aliases: fp16, float32, int8, bfloat16 ...
std::optional<DType> find_dtype(std::string_view name);
// As find_dtype; the error names the nearest known type.
Result<DType> parse_dtype(std::string_view name);
std::span<const DTypeInfo> all_dtypes();

inline int64_t size_bytes(DType dtype) { return (info(dtype).bits + 7) / 8; }

// Distance from 1 to the next larger value, 2^(1 - significand_bits); 0 for integers.
double epsilon(DType dtype);

// Scalar conversions, round to nearest even; integers saturate. element points at one element.
double load_as_double(DType dtype, const void* element);
void store_from_double(DType dtype, double value, void* element);

// The value after one rounding to dtype.
double round_to(DType dtype, double value);

// Whole ranges, for speed: count contiguous elements.
void convert_to_double(DType dtype, const void* elements, int64_t count, double* out);
void convert_from_double(DType dtype, const double* values, int64_t count, void* out);

}  // namespace assay
