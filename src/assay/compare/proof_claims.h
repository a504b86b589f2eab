#pragma once

// What a record says of proofs, held against what a proof of that problem is. Not for use outside
// this folder.

#include <vector>

#include "assay/compare/claimed.h"
#include "assay/op/operation.h"

namespace assay {

// Whoever was timed was proven before: on every kind of input that says something about the
// problem, by methods that the operation has, of some elements of each output, in as many launches
// at least, and by nothing wrong.
std::vector<Contradiction> find_proof_contradictions(const ProblemRecord& recorded,
                                                     const Operation& operation,
                                                     const Problem& problem);

}  // namespace assay
