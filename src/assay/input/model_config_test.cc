#include "assay/input/model_config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "assay/base/json.h"

namespace assay::input {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

// Sizes of a model with 8 billion parameters.
constexpr std::string_view kConfig = R"({
  "model_type": "llama",
  "hidden_size": 4096,
  "num_attention_heads": 32,
  "num_key_value_heads": 8,
  "intermediate_size": 14336,
  "num_hidden_layers": 32,
  "vocab_size": 128256,
  "torch_dtype": "bfloat16"
})";

// The config with one field changed; null takes it out.
std::string with(std::string_view key, const Json& value) {
  Json config = Json::parse(kConfig);
  if (value.is_null())
    config.erase(std::string(key));
  else
    config[std::string(key)] = value;
  return config.dump(1);
}

Result<Suite> read(std::string_view text, ModelOptions options = {}) {
  if (options.batches.empty()) options.batches = {16};
  return parse_model(text, "some/8B/config.json", options);
}

std::vector<std::string> names(const Result<Suite>& suite) {
  std::vector<std::string> names;
  if (!suite) return {suite.error().message};
  for (const Problem& problem : suite->problems) names.push_back(problem.name());
  return names;
}

TEST(ModelConfigTest, BecomesItsGemmsWithTheirCalls) {
  const auto suite = read(kConfig, {.batches = {16, 1}});
  ASSERT_TRUE(suite.has_value()) << suite.error().message;
  EXPECT_EQ(suite->name, "8B");
  ASSERT_EQ(suite->problems.size(), 10u);
  EXPECT_THAT(names(read(kConfig)),
              ElementsAre("qkv_m16_n6144_k4096", "o_m16_n4096_k4096", "gate_up_m16_n28672_k4096",
                          "down_m16_n4096_k14336", "lm_head_m16_n128256_k4096"));
  const Problem& qkv = suite->problems[0];
  EXPECT_EQ(qkv.weight(), 32);
  EXPECT_EQ(qkv.role(), "qkv");
  EXPECT_EQ(qkv.layout(), "tn");
  EXPECT_EQ(qkv.find_operand("b")->dtype, DType::bf16);
  EXPECT_EQ(qkv.find_operand("b")->lifetime, Lifetime::constant);
  EXPECT_EQ(suite->problems[4].weight(), 1);
  EXPECT_EQ(suite->problems[5].dimension("m"), 1);
}

TEST(ModelConfigTest, DefaultsAndOtherPlaces) {
  EXPECT_THAT(names(read(with("num_key_value_heads", nullptr)))[0], "qkv_m16_n12288_k4096");
  EXPECT_THAT(names(read(with("head_dim", 256)))[1], "o_m16_n4096_k8192");
  EXPECT_THAT(names(read(with("model_type", "starcoder2")))[2], "up_m16_n14336_k4096");
  EXPECT_EQ(read(with("torch_dtype", nullptr))->problems[0].find_operand("a")->dtype, DType::f16);
  EXPECT_EQ(read(kConfig, {.dtype = DType::f32})->problems[0].find_operand("a")->dtype, DType::f32);
  const Json nested = {{"model_type", "gemma3"}, {"text_config", Json::parse(kConfig)}};
  EXPECT_EQ(names(read(nested.dump())), names(read(kConfig)));
  EXPECT_EQ(parse_model(kConfig, "x/my model.json", {.batches = {1}})->name, "my_model");
}

TEST(ModelConfigTest, TensorParallelDevicesShareTheWork) {
  const auto two = read(kConfig, {.tensor_parallel = 2});
  ASSERT_TRUE(two.has_value()) << two.error().message;
  EXPECT_EQ(two->name, "8B_tp2");
  EXPECT_THAT(names(two),
              ElementsAre("qkv_m16_n3072_k4096", "o_m16_n4096_k2048", "gate_up_m16_n14336_k4096",
                          "down_m16_n4096_k7168", "lm_head_m16_n64128_k4096"));
  // More devices than key heads: each has a copy of one.
  EXPECT_THAT(names(read(kConfig, {.tensor_parallel = 16}))[0], "qkv_m16_n512_k4096");
  EXPECT_THAT(names(read(kConfig, {.tensor_parallel = 3}))[0],
              HasSubstr("num_attention_heads: 32 is not divisible by --tp 3"));
  EXPECT_THAT(names(read(with("vocab_size", 50257), {.tensor_parallel = 2}))[0],
              HasSubstr("vocab_size: 50257 is not divisible by --tp 2"));
  EXPECT_THAT(names(read(with("intermediate_size", 11), {.tensor_parallel = 2}))[0],
              HasSubstr("intermediate_size: 11"));
}

TEST(ModelConfigTest, HostileConfigsAreSentencesWithTheirField) {
  const auto error = [](const std::string& text) { return names(read(text))[0]; };
  for (const char* key : {"hidden_size", "num_attention_heads", "intermediate_size",
                          "num_hidden_layers", "vocab_size"}) {
    EXPECT_THAT(error(with(key, nullptr)), HasSubstr(fmt::format("'{}' is missing", key)));
    for (const Json& value : {Json(0), Json(-4096), Json("4096"), Json(40.5), Json(1e300),
                              Json(Json::array({4096})), Json(true)}) {
      const std::string said = error(with(key, value));
      EXPECT_THAT(said, StartsWith("some/8B/config.json:"));
      EXPECT_THAT(said, HasSubstr(fmt::format(": {}: must be an integer from 1 to", key)));
    }
    EXPECT_THAT(error(with(key, std::int64_t{1} << 62)), HasSubstr(key));
  }
  EXPECT_THAT(error(with("num_attention_heads", 30)), HasSubstr("heads do not divide hidden_size"));
  EXPECT_THAT(error(with("num_key_value_heads", 5)),
              HasSubstr("num_key_value_heads: 5 does not divide num_attention_heads 32"));
  EXPECT_THAT(error(with("hidden_size", 2147483647)), HasSubstr("num_attention_heads"));
  EXPECT_THAT(error(with("intermediate_size", 2147483647)), HasSubstr("gate_up: n: "));
  EXPECT_THAT(error(with("torch_dtype", "float33")), HasSubstr("torch_dtype: "));
  EXPECT_THAT(error(with("torch_dtype", 16)), HasSubstr("torch_dtype: must be text"));
  EXPECT_THAT(error("[]"), HasSubstr("must be an object"));
  EXPECT_THAT(error("{"), StartsWith("some/8B/config.json:1"));
  EXPECT_THAT(error(with("text_config", 3)), StartsWith("qkv"));  // Not looked at.
  EXPECT_THAT(error(R"({"text_config": {}})"), HasSubstr("text_config: the required key"));
}

TEST(ModelConfigTest, OtherKindsOfModelsAreRefusedWithTheReason) {
  const auto refusal = [](std::string_view key, const Json& value) {
    const auto suite = read(with(key, value));
    EXPECT_EQ(suite.error().code, ErrorCode::unsupported);
    return suite.error().message;
  };
  EXPECT_THAT(refusal("num_local_experts", 8), HasSubstr("num_local_experts: this model has"));
  EXPECT_THAT(refusal("n_routed_experts", 256), HasSubstr("experts"));
  EXPECT_THAT(refusal("kv_lora_rank", 512), HasSubstr("latent attention"));
  EXPECT_THAT(refusal("quantization_config", Json{{"bits", 4}}), HasSubstr("--dtype"));
  EXPECT_THAT(refusal("torch_dtype", "int8"), HasSubstr("--dtype"));
  EXPECT_THAT(refusal("model_type", "falcon_mamba"),
              HasSubstr("model_type: which matrix products"));
  EXPECT_THAT(refusal("ssm_cfg", Json{{"layer", "Mamba1"}}), HasSubstr("ssm_cfg: this field"));
  EXPECT_THAT(refusal("per_layer_projection", 8), HasSubstr("remove it if it does not"));
  EXPECT_THAT(refusal("layer_types", Json{"full_attention", "linear_attention"}),
              HasSubstr("layer_types[1]: this model has layers of several kinds"));
  EXPECT_THAT(refusal("full_attention_interval", 4), HasSubstr("layers of several kinds"));
  EXPECT_TRUE(read(with("full_attention_interval", 1)).has_value());
  EXPECT_TRUE(read(with("ssm_cfg", Json::object())).has_value());
  EXPECT_TRUE(read(with("layer_types", Json(32, "sliding_attention"))).has_value());
  EXPECT_THAT(names(read(with("layer_types", Json{"full_attention"})))[0],
              HasSubstr("lists 1 layers, and num_hidden_layers is 32"));
  EXPECT_TRUE(read(with("num_local_experts", 1)).has_value());
  EXPECT_TRUE(read(with("kv_lora_rank", nullptr)).has_value());
  EXPECT_TRUE(read(with("quantization_config", Json{{"bits", 4}}), {.dtype = DType::bf16}));
}

TEST(ModelConfigTest, TypesAndQuantisationAreInheritedFromTheWholeModel) {
  Json text = Json::parse(kConfig);
  text.erase("torch_dtype");
  Json model = {{"model_type", "mistral3"}, {"torch_dtype", "bfloat16"}, {"text_config", text}};
  EXPECT_EQ(read(model.dump())->problems[0].find_operand("b")->dtype, DType::bf16);
  model.erase("torch_dtype");
  model["dtype"] = "float32";
  EXPECT_EQ(read(model.dump())->problems[0].find_operand("b")->dtype, DType::f32);
  model["quantization_config"] = {{"quant_method", "fp8"}};
  EXPECT_THAT(names(read(model.dump()))[0],
              HasSubstr("quantization_config: weights are quantised"));
  model.erase("quantization_config");
  model["compression_config"] = {{"bits", 4}};
  EXPECT_THAT(names(read(model.dump()))[0], HasSubstr("compression_config: weights are quantised"));
}

TEST(ModelConfigTest, EachKindOfModelHasItsOwnMlp) {
  EXPECT_EQ(names(read(with("model_type", "arcee")))[2], "up_m16_n14336_k4096");
  EXPECT_EQ(names(read(with("model_type", "bert")))[2], "up_m16_n14336_k4096");
  EXPECT_EQ(names(read(with("model_type", "roberta")))[2], "up_m16_n14336_k4096");
  // Each of the two matrices of the first Qwen has half of the size.
  EXPECT_EQ(names(read(with("model_type", "qwen")))[2], "gate_up_m16_n14336_k4096");
  EXPECT_EQ(names(read(with("model_type", "qwen")))[3], "down_m16_n4096_k7168");
}

TEST(ModelConfigTest, AGateOfTheAttentionIsPartOfItsProjection) {
  EXPECT_EQ(names(read(with("attn_output_gate", true)))[0], "qkv_m16_n10240_k4096");
  EXPECT_EQ(names(read(with("attn_output_gate", true)))[1], "o_m16_n4096_k4096");
  EXPECT_EQ(names(read(with("attn_output_gate", false))), names(read(kConfig)));
}

TEST(ModelConfigTest, WhatPythonWritesForInfinityIsRead) {
  std::string text(kConfig);
  text.replace(text.rfind('}'), 1,
               ", \"time_step_limit\": [0.0, Infinity, -Infinity], \"x\": NaN, "
               "\"y\": \"Infinity \\\" NaN\"}");
  EXPECT_EQ(names(read(text)), names(read(kConfig)));
  EXPECT_THAT(names(read(with("hidden_size", nullptr) + " Infinity"))[0], HasSubstr(":"));
}

TEST(ModelConfigTest, ExpertsAreLeftOutOrVisitedAsSaid) {
  Json config = Json::parse(kConfig);
  config.update({{"model_type", "qwen3_moe"},
                 {"num_experts", 128},
                 {"num_experts_per_tok", 8},
                 {"moe_intermediate_size", 768},
                 {"mlp_only_layers", {0, 1}}});
  std::vector<std::string> notes;
  EXPECT_THAT(
      names(read(config.dump(), {.notes = &notes})),
      ElementsAre("qkv_m16_n6144_k4096", "o_m16_n4096_k4096", "gate_up_m16_n28672_k4096",
                  "down_m16_n4096_k14336", "router_m16_n128_k4096", "lm_head_m16_n128256_k4096"));
  EXPECT_THAT(notes, ElementsAre(HasSubstr("the matrix products of 128 experts")));
  // 16 tokens make 128 visits: one for each expert.
  const auto uniform = read(config.dump(), {.expert_tokens = 0});
  ASSERT_TRUE(uniform) << uniform.error().message;
  EXPECT_EQ(uniform->problems[5].name(), "expert_gate_up_m1_n1536_k4096");
  EXPECT_EQ(uniform->problems[5].weight(), 128 * 30);
  EXPECT_EQ(uniform->problems[2].weight(), 2);
  EXPECT_EQ(uniform->problems[4].weight(), 30);
  const auto four = read(config.dump(), {.expert_tokens = 4});
  EXPECT_EQ(four->problems[6].name(), "expert_down_m4_n4096_k768");
  EXPECT_EQ(four->problems[6].weight(), 32 * 30);
  EXPECT_THAT(names(read(config.dump(), {.batches = {1, 2}, .expert_tokens = 0}))[0],
              HasSubstr("give one --batch"));
  config["shared_expert_intermediate_size"] = 512;
  EXPECT_EQ(names(read(config.dump()))[5], "shared_gate_up_m16_n1024_k4096");
}

TEST(ModelConfigTest, WhatIsLeftOutIsSaid) {
  std::vector<std::string> notes;
  ASSERT_TRUE(read(with("attention_bias", true), {.notes = &notes}));
  EXPECT_THAT(notes, ElementsAre(HasSubstr("biases")));
  ASSERT_TRUE(read(with("torch_dtype", nullptr), {.notes = &notes}));
  EXPECT_THAT(notes, ElementsAre(HasSubstr("f16 is taken")));
}

}  // namespace
}  // namespace assay::input
