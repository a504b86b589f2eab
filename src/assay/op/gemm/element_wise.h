#pragma once

// An epilogue as a kernel of its own, for libraries that have none: it reads the sums that a plain
// GEMM left, and writes out. Float32 arithmetic, one thread, in the vectors of this machine.

#include <array>
#include <cstddef>
#include <cstdint>

#include "assay/op/gemm/epilogue.h"
#include "assay/op/gemm/matrix.h"

namespace assay::gemm {

class ElementWise {
 public:
  // Of a problem whose out is f32, bf16 or f16; unsupported for others.
  static Result<ElementWise> of(const Problem& problem);

  // Sums are where out is, unless the epilogue has a gate: then they are a row-major matrix of
  // sums_bytes(), in out's type.
  bool has_sums_apart() const { return epilogue_.gate() != nullptr; }
  size_t sums_bytes() const;

  // data: of the problem's operands. sums: not read unless has_sums_apart().
  void run(void* const* data, const void* sums) const;

 private:
  ElementWise(const Problem& problem, const View& view, Epilogue epilogue);

  View view_;
  Epilogue epilogue_;
  size_t out_place_ = 0;
  // By step; without data, which stands at these places of a problem's.
  std::array<Matrix, Epilogue::kMostSteps> operands_ = {};
  std::array<size_t, Epilogue::kMostSteps> places_ = {};
};

// The product alone, with everything else as in the problem: what a library without epilogues is
// asked for. Where the epilogue has a gate, out is a dense matrix of n columns.
Result<Problem> without_epilogue(const Problem& problem);

}  // namespace assay::gemm
