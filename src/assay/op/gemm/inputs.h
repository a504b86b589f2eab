#pragma once

// Values of each InputKind, written as bytes in the operands' own types and strides. Not for use
// outside op/gemm.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "assay/base/fd.h"
#include "assay/op/gemm/exact_plan.h"
#include "assay/op/gemm/tiles.h"

namespace assay::gemm {

// For the operand, all of whose elements will be written. Between strided rows lie ones: a NaN of
// every float format, -1 of integers, so that a kernel which reads there shows it.
Result<MemoryFile> allocate_input(const Operand& operand);

// Of uniform floating inputs (lines.h).
struct Lines {
  std::vector<int64_t> wide;
  int64_t counting = 1;     // Elements of a wide line that are not small.
  bool quiet = false;       // The small ones are negligible in the accumulate type.
  double mean_product = 0;  // Of |a| |b| of the others; 0 where inputs are not uniform.
};
// A line whose |a| |b| is below this share of mean_product is wide: 8 of 64 elements or fewer, of
// 3/4 in the mean instead of 1/2, make 0.19.
inline constexpr double kWideShare = 0.4;

struct Inputs {
  MemoryFile a, b, c;            // Sealed. c is empty where there is none.
  std::vector<MemoryFile> more;  // The operands of the epilogue, in the order of its steps; sealed.
  bool exact = false;            // Integers throughout: compare exactly, check with Freivalds.
  ExactLimits limits;            // Of exact inputs.
  std::vector<int64_t> rows, columns;  // Of out, where something special is: worth a sample,
  int64_t batch = 0;                   // in this batch.
  Lines lines;
};

// Deterministic in all arguments. Unsupported where a kind cannot be had (see useful_input_kinds).
Result<Inputs> make_inputs(const Problem& problem, const View& view, InputKind kind, uint64_t seed);

}  // namespace assay::gemm
