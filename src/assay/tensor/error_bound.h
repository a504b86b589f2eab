#pragma once

// By what the rounding errors of a kernel are bounded, as it promises.

#include <array>
#include <cstdint>
#include <string_view>

#include "assay/base/result.h"

namespace assay {

enum class ErrorBound : uint8_t {
  elementwise,  // Of each element of the output: by the terms of that element alone.
  // By the largest magnitudes of whole operands: what fast matrix multiplication (Strassen) has,
  // which mixes rows and columns (Higham, Accuracy and Stability of Numerical Algorithms, 2nd ed.,
  // 2002, chapter 23).
  normwise,
};

inline constexpr std::array kErrorBounds = {ErrorBound::elementwise, ErrorBound::normwise};

std::string_view to_string(ErrorBound bound);
Result<ErrorBound> parse_error_bound(std::string_view text);  // The error lists them.

}  // namespace assay
