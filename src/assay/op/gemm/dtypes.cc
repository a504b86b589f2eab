#include <algorithm>

#include "assay/op/gemm/description.h"

namespace assay::gemm {
namespace {

Status check_supported(std::string_view field, DType dtype) {
  if (info(dtype).supported) return {};
  return fail(
      ErrorCode::unsupported,
      "{}: {} is known by name only: no values of it can be made or compared yet; f64, f32, "
      "f16, bf16 and s8 (with s32) can",
      field, to_string(dtype));
}

// Whether every value of `inner` is a value of `outer`.
bool holds(DType outer, DType inner) {
  return info(outer).significand_bits >= info(inner).significand_bits &&
         info(outer).max_finite >= info(inner).max_finite;
}

Status check_input(std::string_view field, DType dtype) {
  if (dtype == DType::s32)
    return fail(ErrorCode::unsupported, "{}: s32 is the type of integer sums; inputs are s8",
                field);
  return {};
}

}  // namespace

DType default_accumulate(DType a, DType b) {
  if (a == DType::f64 || b == DType::f64) return DType::f64;
  return info(a).floating ? DType::f32 : DType::s32;
}

Status check_dtypes(DType a, DType b, DType out, DType accumulate) {
  ASSAY_TRY(check_supported("a", a));
  ASSAY_TRY(check_supported("b", b));
  ASSAY_TRY(check_supported("out", out));
  ASSAY_TRY(check_supported("accumulate", accumulate));
  ASSAY_TRY(check_input("a", a));
  ASSAY_TRY(check_input("b", b));
  if (info(a).floating != info(b).floating) {
    return fail(ErrorCode::unsupported,
                "b: {} with a of {}: both must be s8, or both floating point", to_string(b),
                to_string(a));
  }
  if (!info(a).floating) {
    if (accumulate != DType::s32) {
      return fail(ErrorCode::invalid_input,
                  "accumulate: {} cannot hold sums of s8 products: use s32", to_string(accumulate));
    }
    if (out != DType::s32) {
      return fail(ErrorCode::unsupported, "out: {}: the product of s8 operands is returned in s32",
                  to_string(out));
    }
    return {};
  }
  if (!info(out).floating) {
    return fail(ErrorCode::unsupported,
                "out: {} with inputs of {} and {}: use f64, f32, f16 or bf16", to_string(out),
                to_string(a), to_string(b));
  }
  for (DType input : {a, b}) {
    if (info(accumulate).floating && holds(accumulate, input)) continue;
    return fail(ErrorCode::invalid_input,
                "accumulate: {} does not hold every value of an {} input: use {}",
                to_string(accumulate), to_string(input), to_string(default_accumulate(a, b)));
  }
  return {};
}

}  // namespace assay::gemm
