#pragma once

// What a record's samples are said to be samples of, made again from the record's own fields.

#include <string>
#include <vector>

#include "assay/base/result.h"
#include "assay/op/problem.h"
#include "assay/record/record.h"

namespace assay {

// As its operation makes it again from the record's fields; invalid_input where it cannot.
Result<Problem> problem_of(const ProblemRecord& recorded);

// One field that another one contradicts.
struct Contradiction {
  std::string what;  // "flops", "id of mine/skinny" ...
  std::string recorded, made;
};

// Of the problem's fields: name, key, role, weight, FLOP and bytes; cache and class, as far as the
// problem and the kernels that were timed tell; each kernel's id, provider and name by its
// metadata, of which the id is the hash; proofs; the race, and the confirmations' rounds.
std::vector<Contradiction> find_contradictions(const ProblemRecord& recorded);

}  // namespace assay
