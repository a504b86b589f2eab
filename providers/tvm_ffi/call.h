#pragma once

// A call of an entry point, made once and launched often: the tensors and the arguments lie ready,
// and a launch writes addresses into them.

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "assay/kernel/argument_value.h"
#include "assay/kernel/family.h"
#include "assay/tensor/dlpack.h"
#include "load.h"

namespace assay::tvm_ffi {

class Call {
 public:
  // `values` in the function's order. Operands are tensors of the problem's sizes and strides: rank
  // 3, batches first, where `batched`; else rank 2. The workspace is a row of bytes; an operand
  // that the problem lacks is None.
  static Result<Step> make_step(Loaded loaded, const Binding& binding,
                                const std::vector<ArgumentValue>& values, bool batched);

 private:
  struct Tensor {
    DlpackTensor tensor;
    std::array<int64_t, 3> sizes{}, strides{};
    int place = 0;  // Among a step's data.
  };

  explicit Call(Loaded loaded) : loaded_(std::move(loaded)) {}
  Status add_tensor(const ArgumentValue& value, const Binding& binding, bool batched,
                    DlpackDevice device);

  static int launch(const void* state, void* const* data);
  static int enqueue(const void* state, void* const* data, void* stream);
  static std::string reason(const void* state);
  int run(void* const* data);

  Loaded loaded_;
  std::vector<std::unique_ptr<Tensor>> tensors_;
  std::vector<abi::Any> arguments_;
  int32_t device_id_ = 0;
};

}  // namespace assay::tvm_ffi
