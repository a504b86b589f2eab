#include "assay/input/model_config.h"

#include <algorithm>
#include <limits>

#include "assay/base/file.h"
#include "assay/base/json.h"
#include "assay/base/text.h"
#include "assay/op/operation.h"

namespace assay::input {
namespace {

constexpr size_t kMaxBytes = size_t{16} << 20;
constexpr int64_t kMaxSize = std::numeric_limits<int32_t>::max();
constexpr int64_t kMaxHeads = 1 << 16, kMaxLayers = 1 << 16;  // Products of three fit into 64 bits.

// Models whose MLP is two matrices, as their code in transformers has it: everything newer gates.
constexpr std::string_view kWithoutGate[] = {"phi",      "starcoder2", "gpt_neox", "gptj",
                                             "nemotron", "opt",        "bloom",    "mpt"};

// Fields of models whose GEMMs are others, and why.
struct Unsupported {
  std::string_view field, why;
};
constexpr std::string_view kExperts =
    "has experts, and which of them a token visits is not in the config, so their calls cannot be "
    "counted; race an expert's GEMMs by --shape";
constexpr std::string_view kLatent =
    "has latent attention, whose projections are other GEMMs than qkv and o; race them by --shape";
constexpr Unsupported kUnsupported[] = {
    {"num_experts", kExperts},      {"num_local_experts", kExperts},
    {"n_routed_experts", kExperts}, {"moe_intermediate_size", kExperts},
    {"kv_lora_rank", kLatent},      {"q_lora_rank", kLatent}};

Error invalid(const JsonField& field, std::string_view sentence) {
  return field.error(ErrorCode::invalid_input, sentence);
}

std::optional<JsonField> given(const JsonField& object, std::string_view key) {
  auto found = object.find(key);
  if (found && found->is_null()) found.reset();
  return found;
}

class ModelReader {
 public:
  ModelReader(const JsonField& config, const ModelOptions& options)
      : config_(config), options_(options) {}

  Result<ModelSizes> read() const {
    ASSAY_TRY(check_supported());
    ASSAY_TRY(const int64_t hidden, size("hidden_size", kMaxSize));
    ASSAY_TRY(const int64_t heads, size("num_attention_heads", kMaxHeads));
    ASSAY_TRY(const int64_t kv_heads, size_or("num_key_value_heads", kMaxHeads, heads));
    ASSAY_TRY(const int64_t head_dim, read_head_dim(hidden, heads));
    ASSAY_TRY(const int64_t intermediate, size("intermediate_size", kMaxSize));
    ASSAY_TRY(const int64_t layers, size("num_hidden_layers", kMaxLayers));
    ASSAY_TRY(const int64_t vocabulary, size("vocab_size", kMaxSize));
    if (heads % kv_heads != 0) {
      return fail(invalid(*given(config_, "num_key_value_heads"),
                          fmt::format("{} does not divide num_attention_heads {}: every key head "
                                      "serves the same number of query heads",
                                      kv_heads, heads)));
    }
    const int64_t ways = options_.tensor_parallel;
    ASSAY_TRY(check_divides("num_attention_heads", heads));
    ASSAY_TRY(check_divides("intermediate_size", intermediate));
    ASSAY_TRY(check_divides("vocab_size", vocabulary));
    // With more devices than key heads each device has a copy of one.
    if (kv_heads % ways != 0 && ways % kv_heads != 0)
      ASSAY_TRY(check_divides("num_key_value_heads", kv_heads));
    const int64_t own_kv_heads = std::max<int64_t>(1, kv_heads / ways);
    ASSAY_TRY(const bool gated, has_gate());
    ASSAY_TRY(const DType dtype, read_dtype());
    return ModelSizes{.hidden = hidden,
                      .heads = heads / ways,
                      .kv_heads = own_kv_heads,
                      .head_dim = head_dim,
                      .intermediate = intermediate / ways,
                      .gated = gated,
                      .vocabulary = vocabulary / ways,
                      .layers = layers,
                      .dtype = dtype};
  }

 private:
  Result<DType> read_dtype() const {
    if (options_.dtype) return *options_.dtype;
    for (const char* key : {"torch_dtype", "dtype"}) {
      const auto field = given(config_, key);
      if (!field) continue;
      ASSAY_TRY(const std::string text, field->as_string());
      const auto dtype = parse_dtype(text.starts_with("torch.") ? text.substr(6) : text);
      if (!dtype) return fail(invalid(*field, dtype.error().message));
      if (!info(*dtype).floating || !info(*dtype).supported)
        return fail(field->error(
            ErrorCode::unsupported,
            fmt::format("weights of {} are not raced; choose another type with --dtype", text)));
      return *dtype;
    }
    return DType::f16;
  }

  Status check_supported() const {
    for (const auto& [name, why] : kUnsupported) {
      const auto field = given(config_, name);
      // One expert, or none, is a plain MLP.
      if (!field || (field->json().is_number() && field->json().get<double>() <= 1)) continue;
      return fail(field->error(ErrorCode::unsupported, fmt::format("this model {}", why)));
    }
    const auto quantised = given(config_, "quantization_config");
    if (quantised && !options_.dtype)
      return fail(quantised->error(
          ErrorCode::unsupported,
          "weights are quantised, and such GEMMs are not raced; --dtype bf16 races the same sizes "
          "in that type"));
    return {};
  }

  Result<int64_t> size(std::string_view key, int64_t most) const {
    ASSAY_TRY(const JsonField field, config_.at(key));
    return field.as_int64(1, most);
  }
  Result<int64_t> size_or(std::string_view key, int64_t most, int64_t otherwise) const {
    const auto field = given(config_, key);
    return field ? field->as_int64(1, most) : Result<int64_t>(otherwise);
  }

  Result<int64_t> read_head_dim(int64_t hidden, int64_t heads) const {
    if (given(config_, "head_dim")) return size("head_dim", kMaxHeads);
    if (hidden % heads == 0) return hidden / heads;
    return fail(invalid(*given(config_, "num_attention_heads"),
                        fmt::format("{} heads do not divide hidden_size {}, and there is no "
                                    "head_dim",
                                    heads, hidden)));
  }

  Status check_divides(std::string_view key, int64_t value) const {
    if (value % options_.tensor_parallel == 0) return {};
    return fail(invalid(*given(config_, key), fmt::format("{} is not divisible by --tp {}", value,
                                                          options_.tensor_parallel)));
  }

  Result<bool> has_gate() const {
    const auto type = given(config_, "model_type");
    if (!type) return true;
    ASSAY_TRY(const std::string name, type->as_string());
    return std::ranges::find(kWithoutGate, name) == std::end(kWithoutGate);
  }

  const JsonField& config_;
  const ModelOptions& options_;
};

// A name that a suite can have, from what the user's files are called.
std::string model_name(const std::filesystem::path& path, int64_t tensor_parallel) {
  std::error_code failed;
  const std::filesystem::path whole = std::filesystem::absolute(path, failed).lexically_normal();
  std::string name = whole.stem().string();
  if (name == "config" && whole.has_parent_path()) name = whole.parent_path().filename().string();
  for (char& c : name)
    if (!matches_name_rule(std::string_view(&c, 1)) && c != '.') c = '_';
  name = name.substr(0, 80);
  if (!matches_name_rule(name)) name = "model";
  return tensor_parallel == 1 ? name : fmt::format("{}_tp{}", name, tensor_parallel);
}

}  // namespace

Result<Suite> parse_model(std::string_view text, const std::filesystem::path& path,
                          const ModelOptions& options) {
  const std::string origin = path.string();
  ASSAY_TRY(const JsonDocument document, parse_json_document(text, origin));
  const JsonField root(document);
  ASSAY_TRY(root.expect_object());
  // Models of text and pictures keep the text's sizes apart.
  const auto nested = given(root, "text_config");
  const JsonField config = nested && !root.find("hidden_size") ? *nested : root;
  ASSAY_TRY(const ModelSizes model, ModelReader(config, options).read());
  Suite suite{.name = model_name(path, options.tensor_parallel), .problems = {}, .origin = origin};
  for (const int64_t m : options.batches) {
    for (const Operation* operation : built_in_operations()) {
      for (const Json& fields : operation->problems_of_model(model, m)) {
        auto problem = operation->problem(fields);
        if (!problem)
          return fail(problem.error().code, "{}: {}: {}", origin,
                      fields.value("role", std::string(operation->name())),
                      problem.error().message);
        suite.problems.push_back(std::move(*problem));
      }
    }
  }
  return suite;
}

Result<Suite> read_model(const std::filesystem::path& path, const ModelOptions& options) {
  ASSAY_TRY(const std::string text, read_file(path.string(), kMaxBytes));
  return parse_model(text, path, options);
}

}  // namespace assay::input
