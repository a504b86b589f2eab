#pragma once

// A model as the source of problems: the config.json that Hugging Face checkpoints have, expanded
// to the matrix products of one pass over m tokens.
//
//   qkv       (heads + 2 kv heads) x head_dim  x  hidden     once a layer
//   o         hidden  x  heads x head_dim                    once a layer
//   gate_up   2 x intermediate  x  hidden                    once a layer; `up`, half of it, where
//                                                            the model's MLP has no gate
//   down      hidden  x  intermediate                        once a layer
//   lm_head   vocabulary  x  hidden                          once
//
// In layers with experts `router` (experts x hidden) stands for gate_up and down, with
// shared_gate_up and shared_down of experts that every token visits, and, if it is said how many
// tokens an expert works on at once, expert_gate_up and expert_down, each called once for every
// expert that is visited. A gate of the attention's output makes qkv wider by as much as the
// queries.
//
// All are n x k, with the calls as the problem's weight; weights are constant and stored [n, k], as
// checkpoints store them (layout tn). Tensor parallelism over t devices divides heads, the
// intermediate size and the vocabulary: what one of them computes.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "assay/base/result.h"
#include "assay/input/suite.h"
#include "assay/tensor/dtype.h"

namespace assay::input {

struct ModelOptions {
  int64_t tensor_parallel = 1;
  std::vector<int64_t> batches = {};  // m of each pass: tokens that go through it together.
  std::optional<DType> dtype = {};    // Of all operands; else the config's torch_dtype, else f16.
  // Tokens that an expert works on at once; 0: all experts are visited alike; none: left out.
  std::optional<int64_t> expert_tokens = {};
  std::vector<std::string>* notes = nullptr;  // Gets a sentence on all that is left out.
};

// The suite is called after the model: the folder that the config lies in where the file is
// config.json, else the file; "_tp<t>" is appended.
//
// Read: hidden_size, num_attention_heads, num_key_value_heads (default: all heads), head_dim
// (default: hidden_size / heads), intermediate_size, num_hidden_layers, vocab_size, torch_dtype or
// dtype, model_type, layer_types, and the fields of experts; from text_config where that holds
// them, and types and quantisation from the whole model where it does not say. NaN and Infinity
// count as null. A kind of model, of layers or of fields that is not understood
// (model_kinds.h), latent attention and quantised weights are ErrorCode::unsupported with their
// field; a field that is missing, of another type, out of range, or not divisible is invalid_input.
// All begin with "file:line: field: ".
Result<Suite> read_model(const std::filesystem::path& path, const ModelOptions& options);
Result<Suite> parse_model(std::string_view text, const std::filesystem::path& path,
                          const ModelOptions& options);

}  // namespace assay::input
