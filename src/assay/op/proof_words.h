#pragma once

// What proofs of an operation may say, for who reads them in a record that may come from anywhere.

#include <span>
#include <string_view>

#include "assay/op/operation.h"
#include "assay/op/problem.h"

namespace assay {

// Behind the method of a check that judged by that bound and not element by element.
inline constexpr std::string_view kNormwiseMethod = ", normwise";
// Behind all of it if a GPU compared, today and in the words of records of before 2026-11-26.
inline constexpr std::string_view kOnTheGpu = ", on the GPU";
inline constexpr std::string_view kOnTheGpuEarlier = ", on the card";
// Ahead of why a check compared nothing: the kernel's bound promises nothing of such inputs.
inline constexpr std::string_view kLeftOutMethod = "left out: ";

// Of an Operation, beside it.
class ProofWords {
 public:
  virtual ~ProofWords() = default;

  // What Check::method says; "{}" stands where a number does.
  virtual std::span<const std::string_view> check_methods() const = 0;

  // Whether outputs for these inputs are not compared where that is what a kernel promises.
  virtual bool leaves_out(const Problem& problem, InputKind kind, ErrorBound bound) const = 0;

  // What no element of the output exceeds where inputs are `uniform`. Who sees no smaller error has
  // seen nothing.
  virtual double largest_of_uniform(const Problem& problem) const = 0;
};

}  // namespace assay
