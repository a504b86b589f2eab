#pragma once

// The kinds of models whose matrix products are understood, and the fields of their configurations.
// A model of another kind, or one with a field that says that its layers are others, is refused.

#include <string_view>

#include "assay/base/json.h"
#include "assay/base/result.h"

namespace assay::input {

// As the code of transformers has them.
enum class Mlp { gated, plain, halves };  // halves: each matrix has half of intermediate_size.

struct ModelKind {
  std::string_view type;  // model_type.
  Mlp mlp = Mlp::gated;
  bool biases = false;            // Whatever the fields say.
  std::string_view experts = {};  // The field with their number; empty if it has none.
  bool decoder = true;            // It ends in a projection to the vocabulary.
};

// Null if the kind is not understood.
const ModelKind* find_model_kind(std::string_view type);

// A field that changes matrix products and is not understood is ErrorCode::unsupported, with its
// place. False values, zeros, nulls and empty lists change nothing, and names that tell of nothing
// in a layer are passed over.
Status check_model_fields(const JsonField& config, const ModelKind& kind);

}  // namespace assay::input
