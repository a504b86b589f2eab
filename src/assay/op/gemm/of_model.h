#pragma once

// The GEMMs of one pass of m tokens through a model (input/model_config.h lists them). Not for use
// outside op/gemm.

#include <cstdint>
#include <vector>

#include "assay/base/json.h"
#include "assay/op/model.h"

namespace assay::gemm {

// Fields of problems, with the calls as their weight.
std::vector<Json> problems_of_model(const ModelSizes& model, int64_t m);

}  // namespace assay::gemm
