#pragma once

// What the two halves of expression.h share; nobody else includes it.

#include <cstdint>
#include <string_view>

#include "assay/base/result.h"

namespace assay {

// Values on the machine's stack at once. Nesting is bounded, so the parser never comes near it.
inline constexpr int kExpressionStack = 256;

Error expression_error(std::string_view text, std::uint32_t column, std::string_view sentence);

}  // namespace assay
