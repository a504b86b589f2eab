#pragma once

// The comparison of a whole output with float64, element by element, by a Calculator. Not for use
// outside op/gemm.

#include <memory>
#include <mutex>
#include <vector>

#include "assay/op/calculator.h"
#include "assay/op/gemm/base.h"
#include "assay/op/gemm/varied_check.h"

namespace assay::gemm {

// Of one instance, whose inputs the calculator gets once where it has room for them.
class CalculatedCheck {
 public:
  // inputs: the instance's own, as its kernel got them, and the same at every call. variation: 0,
  // or as in variation.h.
  Result<Check> check(Calculator& calculator, const Base& base, const VariedInputs& inputs,
                      const void* output, uint64_t variation);

 private:
  // What the calculator holds of the inputs, and what they make, by batch.
  struct Held {
    std::shared_ptr<const Calculator::Memory> a, b, c;
    std::vector<Calculator::Product> products;
  };

  std::mutex mutex_;
  Held held_;
};

}  // namespace assay::gemm
