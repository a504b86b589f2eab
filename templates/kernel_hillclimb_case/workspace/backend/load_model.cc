#include "load_model.h"

#include <cstdlib>
#include <fstream>
#include <iterator>

namespace {

// The number behind "key" at any depth; `otherwise` if there is none.
int64_t number(const std::string& json, const std::string& key, int64_t otherwise) {
  const std::string quoted = '"' + key + '"';
  size_t at = json.find(quoted);
  if (at == std::string::npos) return otherwise;
  at = json.find_first_not_of(" \t\r\n:", at + quoted.size());
  char* end = nullptr;
  const long long value = at == std::string::npos ? 0 : std::strtoll(&json[at], &end, 10);
  return value > 0 ? value : otherwise;
}

// Weights between -0.5 and 0.5, by a linear congruential generator.
std::vector<float> seeded(int64_t count, uint64_t seed) {
  std::vector<float> weights(static_cast<size_t>(count));
  uint64_t state = seed;
  for (float& weight : weights) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    weight = static_cast<float>(state >> 40) / 16777216.0f - 0.5f;
  }
  return weights;
}

}  // namespace

Model load_model(const std::string& folder) {
  Model model;
  const std::string path = folder + "/config.json";
  std::ifstream file(path, std::ios::binary);
  const std::string json((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  const int64_t hidden = number(json, "hidden_size", 0);
  const int64_t layers = number(json, "num_hidden_layers", 0);
  const int64_t heads = number(json, "num_attention_heads", 0);
  const int64_t inner = number(json, "intermediate_size", 0);
  const int64_t vocabulary = number(json, "vocab_size", 0);
  if (hidden == 0 || layers == 0 || heads == 0 || inner == 0 || vocabulary == 0) {
    model.error = path +
                  ": it must be there, with hidden_size, num_hidden_layers, num_attention_heads, "
                  "intermediate_size and vocab_size";
    return model;
  }
  const int64_t kv_heads = number(json, "num_key_value_heads", heads);
  const int64_t head = number(json, "head_dim", hidden / heads);
  const int calls = static_cast<int>(layers);
  model.gemms = {{"qkv", (heads + 2 * kv_heads) * head, hidden, calls, {}},
                 {"o", hidden, heads * head, calls, {}},
                 {"gate_up", 2 * inner, hidden, calls, {}},
                 {"down", hidden, inner, calls, {}},
                 {"lm_head", vocabulary, hidden, 1, {}}};
  uint64_t seed = 1;
  for (ModelGemm& gemm : model.gemms) gemm.weights = seeded(gemm.n * gemm.k, seed++);
  return model;
}
