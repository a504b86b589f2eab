#pragma once

// The comparison of an output behind an epilogue with products that a Calculator makes: the steps
// themselves are done here. Of all elements of an instance's own inputs; of a timed launch's rows
// and columns spread over all of out. Not for use outside op/gemm.

#include "assay/op/calculator.h"
#include "assay/op/gemm/base.h"
#include "assay/op/gemm/judge.h"
#include "assay/op/renewal.h"

namespace assay::gemm {

// A batch of an operand, whose bytes the calculator holds at `data`.
Calculator::Matrix batch_of(const Matrix& matrix, const void* data, int64_t batch);

// Where the calculator holds operands; c is null where there is none.
struct OnCalculator {
  const void *a = nullptr, *b = nullptr, *c = nullptr, *out = nullptr;
};

// inputs: the instance's own, which are looked at if the launch's were not made from seeds.
Result<Check> check_epilogue_on(Calculator& calculator, const OnCalculator& held,
                                const OwnInputs& inputs, const InputSeeds& seeds, Judge judge);

}  // namespace assay::gemm
