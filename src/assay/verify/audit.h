#pragma once

// Whether a problem's inputs and tolerances tell a right kernel from a trivial one.

#include <string>
#include <vector>

#include "assay/base/result.h"
#include "assay/op/problem.h"
#include "assay/tensor/error_bound.h"

namespace assay::verify {

struct Audit {
  std::vector<std::string> failed;  // Impostors that some kind of input showed, as it should be.
  std::vector<std::string> passed;  // Those that are right on all of them: nothing is proven here.
  std::vector<std::string> honest;  // That would be right by what they are, such as bf16 of bf16.
};

// Of a problem with more than about 2^27 multiplications, by one with fewer outputs: tolerances
// come from types and the number of terms, which are the same. bound: what impostors promise.
Result<Audit> audit(const Problem& problem, ErrorBound bound = ErrorBound::elementwise);

}  // namespace assay::verify
