#pragma once

// The comparison of an output whose problem has an epilogue: element by element, since behind a
// function neither Freivalds nor projections say anything. All of it where that is affordable, else
// rows and columns; of a timed launch a block that the referee's secret chooses. Not for use
// outside op/gemm.

#include <cstddef>
#include <span>

#include "assay/op/calculator.h"
#include "assay/op/gemm/base.h"
#include "assay/op/gemm/mapping.h"
#include "assay/op/renewal.h"

namespace assay::gemm {

// Of the instance's own inputs.
Check compare_epilogue(const Base& base, const Mapping& mapping, const OwnInputs& inputs,
                       std::span<const std::byte> output, ErrorBound bound);

// Of inputs made from the seeds.
Check look_at_epilogue(const Base& base, std::span<const std::byte> output, const InputSeeds& seeds,
                       ErrorBound bound);

}  // namespace assay::gemm
