#pragma once

// Operation::vary, said so that others than the host can do it.

#include <array>
#include <cstdint>
#include <vector>

#include "assay/op/operation.h"
#include "assay/tensor/dtype.h"

namespace assay {

// Lines of an operand that are turned round, with other signs: element i of a line becomes element
// (i + offsets[0]) % length, its sign turned where elements (i + offsets[1]) % length and
// (i + offsets[2]) % length have different ones.
struct TurnedLines {
  DType dtype = DType::f32;
  int64_t first = 0;  // Elements from the operand's start to that of the first line.
  int64_t lines = 0, length = 0, line_stride = 0, element_stride = 0;  // In elements.
  std::array<int64_t, 3> offsets = {};                                 // Below length.
};

class TurningOperation : public Operation {
 public:
  // What vary() does to the varied operand with this seed; bytes in no line stay. None for seed 0.
  virtual std::vector<TurnedLines> turned_lines(const Problem& problem, uint64_t seed) const = 0;
};

}  // namespace assay
