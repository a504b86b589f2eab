#pragma once

// What a function that a user wrote is given for one name of its `args`.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "assay/tensor/dtype.h"

namespace assay {

// How a GPU's copy engine sees an operand (a tensor map): two or three dimensions, innermost
// first.
struct TensorMapShape {
  DType dtype = DType::f16;
  std::vector<int64_t> sizes;       // Elements.
  std::vector<int64_t> step_bytes;  // From one to the next, of every dimension but the innermost.
  std::vector<int64_t> box;         // What one copy takes, elements.
  int64_t swizzle = 0, promotion = 0;  // Bytes; 0: none.
};

struct ArgumentValue {
  enum class Kind : uint8_t { pointer, integer, real, tensor_map };
  std::string name;
  Kind kind = Kind::pointer;
  int place = -1;              // Pointers: among a plan's data; -1: what `address` says.
  void* address = nullptr;     // Memory that is no operand, or null.
  uint64_t scratch_bytes = 0;  // Of a pointer to memory of its own, which who binds it allocates.
  int64_t integer = 0;
  double real = 0;
  std::shared_ptr<const TensorMapShape> map;  // Of a tensor_map, whose `place` is the operand's.
};

}  // namespace assay
