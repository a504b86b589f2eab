#pragma once

// What proofs of an operation may say, for who reads them in a record that may come from anywhere.

#include <span>
#include <string_view>

#include "assay/op/problem.h"

namespace assay {

// Of an Operation, beside it.
class ProofWords {
 public:
  virtual ~ProofWords() = default;

  // What Check::method says; "{}" stands where a number does.
  virtual std::span<const std::string_view> check_methods() const = 0;

  // What no element of the output exceeds where inputs are `uniform`. Who sees no smaller error has
  // seen nothing.
  virtual double largest_of_uniform(const Problem& problem) const = 0;
};

}  // namespace assay
