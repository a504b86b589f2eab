#pragma once

// A problem in cutlass_profiler's words (tools/profiler of https://github.com/NVIDIA/cutlass).

#include <cstdint>
#include <string>
#include <vector>

#include "assay/base/result.h"
#include "assay/op/problem.h"

namespace assay::profiler {

// One way to ask for a problem.
struct Question {
  // Stock kernels write column-major outputs. A row-major one is asked for as its transpose, with
  // the operands swapped: out^T = b^T a^T, the same bytes in memory.
  bool swapped = false;
  std::int64_t m = 0, n = 0, k = 0, batch = 1;  // As asked.
  std::string a, b, out;                        // "f16:row".
  std::vector<std::string> arguments;           // "--operation=Gemm", "--m=4096" ...
};

// The ways to ask for it; each is to be tried where the one before fits no kernel. ErrorCode::
// unsupported, with the reason: cutlass_profiler has no words for it (operands with gaps, an
// epilogue, another operation).
Result<std::vector<Question>> questions(const Problem& problem);

// Flags that a user adds, one a word: invalid_input where one is no flag, or says what the question
// or the report says (--m, --A, --output ...), of which cutlass_profiler would take the last.
Status check_flags(const std::vector<std::string>& flags);

// Of those, a sentence on each that cutlass_profiler 4 is not known to have: it passes over such
// flags in silence.
std::vector<std::string> unknown_flags(const std::vector<std::string>& flags);

}  // namespace assay::profiler
