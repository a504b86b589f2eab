#pragma once

// Operands of a card varied there: op/turned_lines.h.

#include <memory>
#include <string>

#include "assay/device/cuda/cuda_device.h"
#include "assay/op/turned_lines.h"

namespace assay::sweep {

// Its code: assay_turn(from, to, elements, the number of those that lie closest together, length,
// line stride, element stride, three offsets; of 4 bytes: bytes of an element, whether lines are
// what lies closest together, whether elements are integers). Strides in bytes.
std::string turn_code(const std::string& target);

class CardTurn {
 public:
  // ErrorCode::unsupported where the card does not do what turned_lines.h says: it is tried.
  static Result<std::unique_ptr<CardTurn>> create(cuda::CudaDevice& device);

  // from, to: an operand's start. Enqueued, behind what is in the stream.
  Status turn(Stream& stream, const void* from, void* to, const TurnedLines& lines);

 private:
  explicit CardTurn(cuda::CudaDevice& device) : device_(device) {}
  Status try_out(DType dtype, bool lines_are_fast);

  cuda::CudaDevice& device_;
  std::shared_ptr<const cuda::Module> code_;
  void* function_ = nullptr;
};

}  // namespace assay::sweep
