#pragma once

// Values of each kind of inputs for a user's operation, in the operands' own types. Not for use
// outside op/user.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "assay/base/fd.h"
#include "assay/op/operation.h"
#include "assay/op/user/definition.h"

namespace assay::user {

// Uniform numbers: floats in (-1, 1), integers of some range.
Renewal renewal_of(const Problem& problem, size_t operand, const InputSeeds& seeds);

// As timed launches have them: in about every other launch some lines of floats have a needle, so
// that who knows that it is timed cannot take all numbers to be small. None if the definition
// leaves needles out.
Renewal timed_renewal_of(const Definition& definition, const Problem& problem, size_t operand,
                         const InputSeeds& seeds);

// The kinds of a proof's inputs: those of the definition, and needles more than once where one
// instance has too few lines. A kernel that errs too much for some needles alone would pass by
// luck, and be refused later by a timed launch.
std::vector<InputKind> proof_inputs(const Definition& definition, const Problem& problem);

// One for each operand, empty for the output. Needles are spread over the instances of a proof
// (op/proof_seeds.h). Deterministic in all arguments.
Result<std::vector<MemoryFile>> make_inputs(const Problem& problem, InputKind kind, uint64_t seed);

// As float64s.
std::vector<double> widened(const Operand& operand, std::span<const std::byte> bytes);

}  // namespace assay::user
