#pragma once

// What a mismatch says of a kernel that declares no other bound of errors, and is right by the
// normwise one.

#include <optional>
#include <string>

#include "assay/op/operation.h"

namespace assay::sweep {

std::string bound_advice(const Problem& problem);

// Of an operation that a user defined, where an element is outside of the tolerance by little and
// its inputs are such that an honest kernel may be: rounding counts where large terms cancel.
// kind: of a proof's inputs; nothing: of a timed launch. Empty: nothing to say.
std::string cancelling_advice(const Problem& problem, const Check& check,
                              std::optional<InputKind> kind);

}  // namespace assay::sweep
