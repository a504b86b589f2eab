#pragma once

// One configuration: what is compiled, and by which name.

#include <optional>
#include <string>
#include <vector>

#include "assay/kernel/metadata.h"
#include "generation.h"

namespace assay::cutlass {

struct Configuration {
  Design design;
  Operands operands;

  // As CUTLASS's own generator names it, and cutlass_profiler its kernels; one for each.
  std::string stock_name() const;
  // The file that nvcc compiles: what CUTLASS is asked for, then kernel_abi.h and the body of its
  // generation.
  Result<std::string> source() const;
};

// A row's, which may come from another process as its metadata.
Result<Configuration> configuration_of(const KernelMetadata& row);
// Whether B^T A^T is what CUTLASS computes: then out is of the other order to it.
bool is_swapped(const KernelMetadata& row);

// The head of a source: what it is, and what all generations are told.
class Defines {
 public:
  explicit Defines(const Configuration& configuration);
  void operator()(std::string_view name, std::string_view value);
  void operator()(std::string_view name, int value);
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

// What rows of a set of operands ask of a problem, in either order of out.
ProblemRule rule_of(const Operands& operands, bool swapped);

}  // namespace assay::cutlass
