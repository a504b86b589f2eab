#include "assay/op/gemm/of_model.h"

#include <string>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace assay::gemm {

std::vector<Json> problems_of_model(const ModelSizes& model, int64_t m) {
  struct Projection {
    const char* role;
    int64_t n, k, calls;
  };
  const int64_t attention = model.heads * model.head_dim;
  const Projection projections[] = {
      {"qkv", attention + 2 * model.kv_heads * model.head_dim, model.hidden, model.layers},
      {"o", model.hidden, attention, model.layers},
      {model.gated ? "gate_up" : "up", (model.gated ? 2 : 1) * model.intermediate, model.hidden,
       model.layers},
      {"down", model.hidden, model.intermediate, model.layers},
      {"lm_head", model.vocabulary, model.hidden, 1}};
  std::vector<Json> problems;
  for (const auto& [role, n, k, calls] : projections)
    problems.push_back({{"name", fmt::format("{}_m{}_n{}_k{}", role, m, n, k)},
                        {"role", role},
                        {"m", m},
                        {"n", n},
                        {"k", k},
                        {"dtype", std::string(to_string(model.dtype))},
                        {"layout", "tn"},
                        {"constant", {"b"}},
                        {"weight", calls}});
  return problems;
}

}  // namespace assay::gemm
