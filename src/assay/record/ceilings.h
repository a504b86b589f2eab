#pragma once

#include <span>
#include <string_view>

#include "assay/record/environment.h"

namespace assay {

// What a machine gives at most to a kernel whose inputs are of `dtype`: that type's own ceiling,
// else that of f32. The products of f16 and bf16 inputs may be summed in f32 once they are widened,
// so theirs is the higher of the two. None where nothing was measured.
const Ceiling* arithmetic_ceiling(std::span<const Ceiling> ceilings, std::string_view dtype);

}  // namespace assay
