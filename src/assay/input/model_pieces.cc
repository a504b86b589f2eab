#include "assay/input/model_pieces.h"

#include <algorithm>

namespace assay::input {

std::vector<Piece> pieces_of(const Model& model, int64_t m, std::optional<int64_t> expert_tokens) {
  ModelSizes attention = model.sizes, plain = model.sizes, routed = model.sizes;
  if (model.gated_attention) attention.heads *= 2;
  std::vector<Piece> pieces = {{attention, m, {{"qkv", "qkv"}}}, {model.sizes, m, {{"o", "o"}}}};
  if (model.experts) plain.layers -= model.experts->layers;
  if (plain.layers > 0)
    pieces.push_back({plain, m, {{"gate_up", "gate_up"}, {"up", "up"}, {"down", "down"}}});
  const auto mlp = [&](const std::string& whose, int64_t tokens, int64_t intermediate,
                       int64_t calls) {
    routed.intermediate = intermediate;
    pieces.push_back(
        {routed,
         tokens,
         {{"gate_up", whose + "_gate_up"}, {"up", whose + "_up"}, {"down", whose + "_down"}},
         calls});
  };
  if (model.experts) {
    const Experts& experts = *model.experts;
    routed.vocabulary = experts.count;
    pieces.push_back({routed, m, {{"lm_head", "router"}}, experts.layers});
    if (experts.shared_intermediate > 0)
      mlp("shared", m, experts.shared_intermediate, experts.layers);
    if (expert_tokens) {
      // m tokens make so many visits, and each expert that is visited works on its tokens at once.
      const int64_t visits = m * experts.per_token, alike = std::min(visits, experts.count);
      const int64_t asked = *expert_tokens;
      const int64_t tokens = std::min(m, asked > 0 ? asked : (visits + alike - 1) / alike);
      const int64_t visited = std::min(experts.count, (visits + tokens - 1) / tokens);
      mlp("expert", tokens, experts.intermediate, visited * experts.layers);
    }
  }
  pieces.push_back({model.sizes, m, {{"lm_head", "lm_head"}}});
  return pieces;
}

std::vector<Json> problems_of(const Operation& operation, const Piece& piece) {
  std::vector<Json> problems;
  for (Json& fields : operation.problems_of_model(piece.sizes, piece.m)) {
    const auto role = fields.value("role", std::string());
    const auto found =
        std::ranges::find(piece.roles, role, &std::pair<std::string_view, std::string>::first);
    if (found == piece.roles.end()) continue;
    fields["name"] = found->second + fields.value("name", std::string()).substr(role.size());
    fields["role"] = found->second;
    if (piece.calls) fields["weight"] = *piece.calls;
    problems.push_back(std::move(fields));
  }
  return problems;
}

}  // namespace assay::input
