#pragma once

// Which operands of a problem are inputs, and where in one arena they lie.

#include <cstddef>
#include <span>
#include <vector>

#include "assay/base/fd.h"
#include "assay/base/result.h"
#include "assay/op/problem.h"

namespace assay::sweep {

inline constexpr size_t kNowhere = static_cast<size_t>(-1);

bool is_input(const Operand& operand);

struct InputPlaces {
  std::vector<size_t> index;  // By operand: which piece of the arena, or kNowhere.
  std::vector<size_t> sizes;  // Of the pieces, in bytes.
};

// instance[operand]: an input's bytes, empty for outputs. Errors: more or fewer operands or bytes
// than the problem has (internal).
Result<InputPlaces> place_inputs(const Problem& problem, std::span<const MappedFile> instance);

}  // namespace assay::sweep
