#pragma once

// Where a Shape, Arguments and JSON meet before they become a Problem. Not for use outside op/gemm.

#include <array>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "assay/base/result.h"
#include "assay/op/gemm/gemm.h"

namespace assay::gemm {

inline constexpr int64_t kMaxSize = (int64_t{1} << 31) - 1;
inline constexpr int64_t kMaxBytes = int64_t{1} << 46;  // All operands together.
inline constexpr int64_t kDefaultAlignment = 64;

using Strides = std::array<int64_t, 3>;  // Outermost (batch) first.

// A Shape and what it cannot say. Strides override layout and leading dimensions.
struct Description {
  Shape shape;
  std::optional<Strides> a, b, out, c, residual;
  int64_t a_alignment = kDefaultAlignment, b_alignment = kDefaultAlignment,
          out_alignment = kDefaultAlignment, c_alignment = kDefaultAlignment;
  // Of the operands of an epilogue's steps, by name.
  std::map<std::string, int64_t, std::less<>> epilogue_alignments;
};

// The one place that checks a problem. Errors begin with the field: "k: ...".
Result<Problem> build(const Description& description);

// f64 where an input is f64, s32 for integers, else f32.
DType default_accumulate(DType a, DType b);

// Checks dtypes one by one and together.
Status check_dtypes(DType a, DType b, DType out, DType accumulate);

// The rules behind Operation::fields(), and the problem that JSON fields describe.
std::span<const FieldRule> field_rules();
Result<Problem> problem_from_json(const Json& fields);

}  // namespace assay::gemm
