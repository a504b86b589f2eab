#pragma once

// What a model's configuration says of its layers (input/model_config.h reads it).

#include <cstdint>

#include "assay/tensor/dtype.h"

namespace assay {

// Of one of the devices that share the model, where tensor parallelism divides it. Each product of
// two sizes fits into 64 bits.
struct ModelSizes {
  int64_t hidden = 0;
  int64_t heads = 0, kv_heads = 0, head_dim = 0;
  int64_t intermediate = 0;  // Of one matrix of the MLP.
  bool gated = true;         // The MLP has a gate beside its matrix up.
  int64_t vocabulary = 0;
  int64_t layers = 0;
  DType dtype = DType::f16;
};

}  // namespace assay
