#pragma once

// A model in pieces, each of which is like a model of its own: an operation knows the problems of a
// plain one (op/model.h), and a gate, experts and a router are made of these.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "assay/base/json.h"
#include "assay/op/model.h"
#include "assay/op/operation.h"

namespace assay::input {

// The experts of a model, of which each token visits a few.
struct Experts {
  int64_t count = 0, per_token = 0;
  int64_t intermediate = 0;         // Of one matrix of one expert.
  int64_t shared_intermediate = 0;  // Of the experts that every token visits, together; or 0.
  int64_t layers = 0;               // That have experts instead of an MLP.
};

struct Model {
  ModelSizes sizes;
  bool gated_attention = false;  // The queries' projection also makes a gate of the same size.
  std::optional<Experts> experts = {};
};

// Some of the problems of a model, called by other roles: those of a part that is like a model.
struct Piece {
  ModelSizes sizes;
  int64_t m = 0;
  std::vector<std::pair<std::string_view, std::string>> roles;  // As it is called, and as here.
  std::optional<int64_t> calls = {};
};

// Those of a pass of m tokens. `expert_tokens`: tokens that an expert works on at once; 0: all
// experts are visited alike; none: experts are left out.
std::vector<Piece> pieces_of(const Model& model, int64_t m, std::optional<int64_t> expert_tokens);

// The fields of a piece's problems.
std::vector<Json> problems_of(const Operation& operation, const Piece& piece);

}  // namespace assay::input
