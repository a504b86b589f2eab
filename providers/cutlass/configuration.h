#pragma once

// One configuration: what is compiled, and by which name.

#include <optional>
#include <string>
#include <vector>

#include "assay/kernel/metadata.h"
#include "table.h"

namespace assay::cutlass {

struct Configuration {
  Design design;
  Operands operands;

  // As CUTLASS's own generator names it, and cutlass_profiler its kernels; one for each.
  std::string stock_name() const;
  // The file that nvcc compiles: what CUTLASS is asked for, then kernel_abi.h and kernel_body.cuh
  // (kernel_body_sm80.cuh).
  Result<std::string> source() const;
};

// Attributes of a row besides the design's.
struct Runtime {
  std::string_view raster = "heuristic";  // Or along_m, along_n.
  int64_t swizzle = 1, split_k = 1;

  bool operator==(const Runtime&) const = default;
};

// A row's, which may come from another process as its metadata.
Result<Configuration> configuration_of(const KernelMetadata& row);
Runtime runtime_of(const KernelMetadata& row);
// Whether B^T A^T is what CUTLASS computes: then out is of the other order to it.
bool is_swapped(const KernelMetadata& row);

// Where kernels of a generation run.
std::vector<Target> targets_of(Generation generation);
// What they are compiled for then: "sm_90a", "sm_80", "sm_90".
std::string code_for(Generation generation, const Target& target);
std::vector<std::string> codes_of(Generation generation);

// What rows of a set of operands ask of a problem, in either order of out.
ProblemRule rule_of(const Operands& operands, bool swapped);

}  // namespace assay::cutlass
