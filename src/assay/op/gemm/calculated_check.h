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

// Of one instance, whose inputs the calculator gets once.
class CalculatedCheck {
 public:
  // inputs: the instance's own, as its kernel got them, and the same at every call. variation: 0,
  // or as in variation.h.
  Result<Check> check(Calculator& calculator, const Base& base, const VariedInputs& inputs,
                      const void* output, uint64_t variation);

 private:
  using Kept = std::shared_ptr<const Calculator::Memory>;
  Status keep(Calculator& calculator, const VariedInputs& inputs);
  Result<std::vector<Calculator::Product>> multiply(Calculator& calculator, const View& view,
                                                    const void* a, const void* b) const;

  std::mutex mutex_;
  Kept a_, b_, c_;
  std::vector<Calculator::Product> products_;  // Of these, by batch.
};

}  // namespace assay::gemm
