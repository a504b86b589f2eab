#include "assay/input/model_kinds.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <vector>

#include "assay/base/text.h"

namespace assay::input {
namespace {

constexpr ModelKind kKinds[] = {{"llama"},
                                {"mistral"},
                                {"mistral3"},
                                {"ministral"},
                                {"qwen2", Mlp::gated, true},
                                {"qwen2_vl", Mlp::gated, true},
                                {"qwen2_vl_text", Mlp::gated, true},
                                {"qwen2_5_vl", Mlp::gated, true},
                                {"qwen2_5_vl_text", Mlp::gated, true},
                                {"qwen3"},
                                {"qwen3_vl"},
                                {"qwen3_vl_text"},
                                {"qwen3_5"},
                                {"qwen3_5_text"},
                                {"qwen", Mlp::halves, true},
                                {"gemma"},
                                {"gemma2"},
                                {"gemma3"},
                                {"gemma3_text"},
                                {"phi3"},
                                {"olmo"},
                                {"olmo2"},
                                {"olmo3"},
                                {"cohere"},
                                {"cohere2"},
                                {"granite"},
                                {"stablelm"},
                                {"smollm3"},
                                {"internlm"},
                                {"internlm2"},
                                {"internlm3"},
                                {"baichuan"},
                                {"yi"},
                                {"exaone4"},
                                {"glm"},
                                {"glm4"},
                                {"helium"},
                                {"seed_oss"},
                                {"hunyuan_v1_dense"},
                                {"ernie4_5"},
                                {"llava"},
                                {"internvl"},
                                {"phi", Mlp::plain, true},
                                {"starcoder2", Mlp::plain, true},
                                {"gpt_neox", Mlp::plain, true},
                                {"gptj", Mlp::plain},
                                {"nemotron", Mlp::plain},
                                {"opt", Mlp::plain, true},
                                {"bloom", Mlp::plain, true},
                                {"mpt", Mlp::plain},
                                {"arcee", Mlp::plain},
                                {"persimmon", Mlp::plain, true},
                                {"bert", Mlp::plain, true},
                                {"roberta", Mlp::plain, true},
                                {"xlm-roberta", Mlp::plain, true},
                                {"camembert", Mlp::plain, true},
                                {"electra", Mlp::plain, true},
                                {"mixtral", Mlp::gated, false, "num_local_experts"},
                                {"phimoe", Mlp::gated, false, "num_local_experts"},
                                {"qwen2_moe", Mlp::gated, true, "num_experts"},
                                {"qwen3_moe", Mlp::gated, false, "num_experts"},
                                {"qwen3_vl_moe_text", Mlp::gated, false, "num_experts"},
                                {"olmoe", Mlp::gated, false, "num_experts"},
                                {"granitemoe", Mlp::gated, false, "num_local_experts"},
                                {"glm4_moe", Mlp::gated, false, "n_routed_experts"},
                                {"dots1", Mlp::gated, false, "n_routed_experts"}};

// Fields that are read, and fields with a word of kSuspicious in their names that change no GEMM.
constexpr std::string_view kUnderstood[] = {"hidden_size",
                                            "num_attention_heads",
                                            "num_key_value_heads",
                                            "head_dim",
                                            "intermediate_size",
                                            "num_hidden_layers",
                                            "vocab_size",
                                            "torch_dtype",
                                            "dtype",
                                            "model_type",
                                            "layer_types",
                                            "text_config",
                                            "quantization_config",
                                            "attn_output_gate",
                                            "kv_channels",
                                            "max_window_layers",
                                            "attention_bias",
                                            "qkv_bias",
                                            "mlp_bias",
                                            "use_bias",
                                            "use_qkv_bias",
                                            "add_qkv_bias",
                                            "bias",
                                            "attention_out_bias",
                                            "lm_head_bias",
                                            "use_parallel_residual",
                                            "parallel_attn",
                                            "tie_word_embeddings",
                                            "attention_dropout",
                                            "attn_pdrop",
                                            "hidden_dropout",
                                            "hidden_dropout_prob",
                                            "attention_probs_dropout_prob",
                                            "hidden_act",
                                            "hidden_activation",
                                            "hidden_activation_function",
                                            "activation_function",
                                            "layer_norm_eps",
                                            "layer_norm_epsilon",
                                            "layernorm_epsilon",
                                            "use_layernorm",
                                            "qk_layernorm",
                                            "use_qk_norm",
                                            "qk_norm",
                                            "attention_multiplier",
                                            "residual_multiplier",
                                            "embedding_multiplier",
                                            "logits_scaling",
                                            "attn_logit_softcapping",
                                            "final_logit_softcapping",
                                            "query_pre_attn_scalar",
                                            "attention_scaling",
                                            "attn_implementation",
                                            "_attn_implementation",
                                            "use_flash_attn",
                                            "attn_config_type",
                                            "is_decoder",
                                            "is_encoder_decoder",
                                            "add_cross_attention",
                                            "sliding_window",
                                            "sliding_window_pattern",
                                            "use_sliding_window",
                                            "layer_norm_elementwise_affine",
                                            "partial_rotary_factor",
                                            "max_position_embeddings",
                                            "type_vocab_size",
                                            "position_embedding_type",
                                            "scale_attn_weights",
                                            "scale_attn",
                                            "output_hidden_states",
                                            "output_attentions",
                                            "num_local_experts",
                                            "num_experts",
                                            "n_routed_experts",
                                            "num_experts_per_tok",
                                            "moe_intermediate_size",
                                            "shared_expert_intermediate_size",
                                            "n_shared_experts",
                                            "decoder_sparse_step",
                                            "mlp_only_layers",
                                            "first_k_dense_replace",
                                            "norm_topk_prob",
                                            "router_aux_loss_coef",
                                            "router_jitter_noise",
                                            "output_router_logits",
                                            "routed_scaling_factor",
                                            "n_group",
                                            "topk_group",
                                            "topk_method",
                                            "scoring_func",
                                            "moe_layer_freq",
                                            "vision_feature_layer",
                                            "multimodal_projector_bias",
                                            "image_token_index",
                                            "image_seq_length",
                                            "rope_local_base_freq",
                                            "no_rope_layers",
                                            "no_rope_layer_interval",
                                            "hidden_size_per_layer",
                                            "attention_dropout_prob",
                                            "softmax_in_fp32",
                                            "scale_attention_softmax_in_fp32",
                                            "attention_softmax_in_fp32",
                                            "pretraining_tp",
                                            "use_rope_scaling",
                                            "no_bias",
                                            "full_attention_interval",
                                            "num_nextn_predict_layers",
                                            "layer_switch",
                                            "order_of_interleaved_layers",
                                            "use_bidirectional_attention",
                                            "sliding_window_size",
                                            "window_size",
                                            "use_logn_attn",
                                            "num_beam_groups",
                                            "rotary_dim"};

// Words of names of fields that tell what layers are made of.
constexpr std::string_view kSuspicious[] = {"expert",      "moe",
                                            "lora",        "rank",
                                            "latent",      "mlp",
                                            "ffn",         "ff_",
                                            "inter",       "proj",
                                            "gate",        "layer",
                                            "block",       "head",
                                            "hidden",      "conv",
                                            "ssm",         "state",
                                            "mamba",       "linear",
                                            "recurren",    "bias",
                                            "quant",       "adapter",
                                            "cross",       "encoder",
                                            "decoder",     "dim",
                                            "size",        "width",
                                            "share",       "mtp",
                                            "nextn",       "attn",
                                            "attention",   "altup",
                                            "laurel",      "sparse",
                                            "sparsity",    "hybrid",
                                            "embd",        "d_model",
                                            "d_ff",        "d_kv",
                                            "multi_query", "new_decoder_architecture"};

// Beginnings and ends of names of fields that change nothing.
constexpr std::string_view kHarmlessBegins[] = {
    "_",      "rope_",   "initializer_", "init_",       "image_",  "vision_", "audio_",
    "video_", "output_", "max_position", "classifier_", "pooler_", "summary_"};
constexpr std::string_view kHarmlessEnds[] = {
    "_token_id", "_token_ids", "_token_index", "_dropout", "_dropout_prob", "_pdrop",
    "_eps",      "_epsilon",   "_theta",       "_std",     "_range",        "_coef"};

constexpr std::string_view kLatent =
    "has latent attention, whose projections are other matrix products than qkv and o; race them "
    "by --shape";
constexpr std::string_view kExperts =
    "has experts, and where they stand in a model of its type is not understood; race an expert's "
    "matrix products by --shape";

// Kinds of layers whose matrix products are qkv, o and those of an MLP.
constexpr std::string_view kLayers[] = {"full_attention", "sliding_attention", "chunked_attention",
                                        "attention"};

bool is_nothing(const Json& value) {
  return value.is_null() || (value.is_boolean() && !value.get<bool>()) ||
         (value.is_number() && value.get<double>() == 0) || (value.is_array() && value.empty()) ||
         (value.is_object() && value.empty()) || (value.is_string() && value == "");
}

bool is_harmless(std::string_view name) {
  if (std::ranges::find(kUnderstood, name) != std::end(kUnderstood)) return true;
  const auto begins = [&](std::string_view begin) { return name.starts_with(begin); };
  const auto ends = [&](std::string_view end) { return name.ends_with(end); };
  if (std::ranges::any_of(kHarmlessBegins, begins) || std::ranges::any_of(kHarmlessEnds, ends))
    return true;
  return std::ranges::none_of(kSuspicious, [&](std::string_view word) {
    return name.find(word) != std::string_view::npos;
  });
}

Error unsupported(const JsonField& field, std::string_view sentence) {
  return field.error(ErrorCode::unsupported, sentence);
}

bool counts_experts(std::string_view name) {
  return name == "num_experts" || name == "num_local_experts" || name == "n_routed_experts";
}

// What is wrong with a field that has a value; empty if nothing is.
std::string objection(std::string_view name, const Json& value, const ModelKind& kind) {
  if (counts_experts(name) || name == "moe_intermediate_size") {
    // One expert is a plain MLP.
    if (!kind.experts.empty() || (value.is_number() && value.get<double>() <= 1)) return {};
    return fmt::format("this model {}", kExperts);
  }
  if (name == "kv_lora_rank" || name == "q_lora_rank") return fmt::format("this model {}", kLatent);
  if (name == "is_encoder_decoder" || name == "add_cross_attention")
    return "this model has layers with attention across two sequences, which are not counted; race "
           "its matrix products by --shape";
  if (name == "moe_layer_freq" && value != 1)
    return "this model has experts in some of its layers, and which is not understood; race its "
           "matrix products by --shape";
  if (is_harmless(name)) return {};
  return fmt::format(
      "this field of a model of type {} is not understood, and by its name it may change matrix "
      "products; "
      "remove it if it does not, or race them by --shape",
      kind.type);
}

Status check_layer_types(const JsonField& field) {
  ASSAY_TRY(const auto items, field.items());
  for (const JsonField& item : items) {
    ASSAY_TRY(const std::string layer, item.as_string());
    if (std::ranges::find(kLayers, layer) != std::end(kLayers)) continue;
    return fail(unsupported(
        item, fmt::format(
                  "this model has layers of several kinds, and the matrix products of '{}' are not "
                  "understood; race its matrix products by --shape",
                  sanitize(layer, 60))));
  }
  return {};
}

}  // namespace

const ModelKind* find_model_kind(std::string_view type) {
  const auto* found = std::ranges::find(kKinds, type, &ModelKind::type);
  return found == std::end(kKinds) ? nullptr : found;
}

Status check_model_fields(const JsonField& config, const ModelKind& kind) {
  if (const auto layers = config.find("layer_types"); layers && !layers->is_null())
    ASSAY_TRY(check_layer_types(*layers));
  ASSAY_TRY(const auto members, config.members());
  for (const auto& [name, field] : members) {
    if (is_nothing(field.json())) continue;
    if (const std::string why = objection(name, field.json(), kind); !why.empty())
      return fail(unsupported(field, why));
  }
  return {};
}

}  // namespace assay::input
