#pragma once

#include <span>
#include <string>
#include <string_view>

#include "assay/record/environment.h"
#include "assay/record/record.h"

namespace assay {

// What a machine gives at most to a kernel whose inputs are of `dtype`: that type's own ceiling,
// else that of f32. The products of f16 and bf16 inputs may be summed in f32 once they are widened,
// so theirs is the higher of the two. None where nothing was measured.
const Ceiling* arithmetic_ceiling(std::span<const Ceiling> ceilings, std::string_view dtype);

// Of its first operand, as the key has them in order ("NAME a=f32 b=f32 ..."); empty: unknown.
std::string first_input_type(const ProblemRecord& problem);

// The ceiling that is nearer to a problem's minimal traffic or arithmetic, and the seconds that a
// launch takes there. Under a warm cache bytes are no limit. No seconds: nothing was measured.
struct Roof {
  std::string ceiling;  // "read", "flops_f32".
  double value = 0;     // Its bytes or operations in a second.
  double seconds = 0;
};
Roof roof_of(const ProblemRecord& problem, std::span<const Ceiling> ceilings);

}  // namespace assay
