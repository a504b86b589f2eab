#include "assay/input/model_config.h"

#include <algorithm>
#include <initializer_list>
#include <limits>
#include <utility>

#include "assay/base/file.h"
#include "assay/base/json.h"
#include "assay/base/text.h"
#include "assay/input/model_kinds.h"
#include "assay/input/model_pieces.h"
#include "assay/input/schemas.h"
#include "assay/op/operation.h"

namespace assay::input {
namespace {

constexpr size_t kMaxBytes = size_t{16} << 20;
constexpr int64_t kMaxSize = std::numeric_limits<int32_t>::max();
constexpr int64_t kMaxExperts = 1 << 16;
constexpr int64_t kMaxHeads = 1 << 16, kMaxLayers = 1 << 16;  // Products of three fit into 64 bits.

// The numbers that are read of a model's text part.
struct SizeField {
  std::string_view name;
  int64_t least, most;
  bool required;
};
constexpr SizeField kSizes[] = {{"hidden_size", 1, kMaxSize, true},
                                {"num_attention_heads", 1, kMaxHeads, true},
                                {"num_key_value_heads", 1, kMaxHeads, false},
                                {"head_dim", 1, kMaxHeads, false},
                                {"kv_channels", 1, kMaxHeads, false},
                                {"intermediate_size", 1, kMaxSize, true},
                                {"num_hidden_layers", 1, kMaxLayers, true},
                                {"vocab_size", 1, kMaxSize, true},
                                {"moe_intermediate_size", 1, kMaxSize, false},
                                {"shared_expert_intermediate_size", 1, kMaxSize, false},
                                {"n_shared_experts", 0, kMaxExperts, false},
                                {"decoder_sparse_step", 1, kMaxLayers, false},
                                {"first_k_dense_replace", 0, kMaxLayers, false}};
// Where that part may lie, and where in turn the part that thinks, of a model that also speaks.
constexpr const char* kTextParts[] = {"text_config", "llm_config", "language_config"};
constexpr const char* kThinkerPart = "thinker_config";

const SizeField* find_size(std::string_view name) {
  const auto found = std::ranges::find(kSizes, name, &SizeField::name);
  return found == std::end(kSizes) ? nullptr : found;
}

Error invalid(const JsonField& field, std::string_view sentence) {
  return field.error(ErrorCode::invalid_input, sentence);
}

std::optional<JsonField> given(const JsonField& object, std::string_view key) {
  auto found = object.find(key);
  if (found && found->is_null()) found.reset();
  return found;
}

std::optional<JsonField> first_given(const JsonField& object,
                                     std::initializer_list<std::string_view> keys) {
  for (const std::string_view key : keys)
    if (auto found = given(object, key)) return found;
  return std::nullopt;
}

bool is_true(const std::optional<JsonField>& field) {
  return field && field->json().is_boolean() && field->json().get<bool>();
}

// The text's part of a model of text and pictures, and what it says of the whole.
struct Parts {
  JsonField text, root;

  // What the text's part lacks is inherited.
  std::optional<JsonField> inherited(std::initializer_list<std::string_view> keys) const {
    auto found = first_given(text, keys);
    return found ? found : first_given(root, keys);
  }
};

class ModelReader {
 public:
  ModelReader(Parts parts, const ModelOptions& options)
      : config_(parts.text), parts_(std::move(parts)), options_(options) {}

  Result<Model> read() {
    ASSAY_TRY(const ModelKind kind, read_kind());
    ASSAY_TRY(check_model_fields(config_, kind));
    ASSAY_TRY(check_quantised());
    ASSAY_TRY(const int64_t hidden, size("hidden_size"));
    ASSAY_TRY(const int64_t heads, size("num_attention_heads"));
    ASSAY_TRY(const int64_t kv_heads, size_or("num_key_value_heads", heads));
    ASSAY_TRY(const int64_t head_dim, read_head_dim(hidden, heads));
    ASSAY_TRY(int64_t intermediate, size("intermediate_size"));
    if (kind.mlp == Mlp::halves) intermediate /= 2;
    ASSAY_TRY(const int64_t layers, size("num_hidden_layers"));
    ASSAY_TRY(check_layer_count(layers));
    ASSAY_TRY(const int64_t vocabulary, size("vocab_size"));
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
    ASSAY_TRY(auto experts, read_experts(kind, layers, intermediate));
    ASSAY_TRY(const DType dtype, read_dtype());
    note_biases(kind);
    note_other_parts(kind);
    return Model{.sizes = {.hidden = hidden,
                           .heads = heads / ways,
                           .kv_heads = std::max<int64_t>(1, kv_heads / ways),
                           .head_dim = head_dim,
                           .intermediate = intermediate / ways,
                           .gated = kind.mlp != Mlp::plain,
                           .vocabulary = vocabulary / ways,
                           .layers = layers,
                           .dtype = dtype},
                 .gated_attention = is_true(given(config_, "attn_output_gate")),
                 .experts = experts};
  }

  std::vector<std::string> notes() && { return std::move(notes_); }

 private:
  // A config that names no type is a decoder as most are.
  Result<ModelKind> read_kind() const {
    const auto type = parts_.inherited({"model_type"});
    if (!type) return ModelKind{"llama"};
    ASSAY_TRY(const std::string name, type->as_string());
    if (const ModelKind* kind = find_model_kind(name)) return *kind;
    return fail(type->error(
        ErrorCode::unsupported,
        fmt::format(
            "which matrix products a model of type '{}' has is not understood; race them by "
            "--shape, or name a type here whose layers are the same",
            sanitize(name, 80))));
  }

  Result<DType> read_dtype() {
    if (options_.dtype) return *options_.dtype;
    const auto field = parts_.inherited({"torch_dtype", "dtype"});
    if (!field) {
      notes_.emplace_back("the config names no type of its weights: f16 is taken; --dtype chooses");
      return DType::f16;
    }
    ASSAY_TRY(const std::string text, field->as_string());
    const auto dtype = parse_dtype(text.starts_with("torch.") ? text.substr(6) : text);
    if (!dtype) return fail(invalid(*field, dtype.error().message));
    if (!info(*dtype).floating || !info(*dtype).supported)
      return fail(field->error(
          ErrorCode::unsupported,
          fmt::format("weights of {} are not raced; choose another type with --dtype", text)));
    return *dtype;
  }

  Status check_quantised() const {
    if (options_.dtype) return {};
    const auto quantised = parts_.inherited(
        {"quantization_config", "compression_config", "quantization", "quant_config"});
    if (!quantised || quantised->json().empty()) return {};
    return fail(quantised->error(ErrorCode::unsupported,
                                 "weights are quantised, and such matrix products are not raced; "
                                 "--dtype bf16 races the same sizes "
                                 "in that type"));
  }

  Status check_layer_count(int64_t layers) const {
    const auto types = given(config_, "layer_types");
    if (!types) return check_intervals();
    if (static_cast<int64_t>(types->json().size()) == layers) return {};
    return fail(invalid(*types, fmt::format("lists {} layers, and num_hidden_layers is {}",
                                            types->json().size(), layers)));
  }

  // Where no list says what each layer is, a period of full attention means that others are not.
  Status check_intervals() const {
    const auto interval = given(config_, "full_attention_interval");
    if (!interval || interval->json() == 1) return {};
    return fail(
        interval->error(ErrorCode::unsupported,
                        "this model has layers of several kinds, and the matrix products of those "
                        "between are not understood; race its matrix products by --shape"));
  }

  // One of kSizes.
  Result<int64_t> size(std::string_view key) const {
    const SizeField& known = *find_size(key);
    ASSAY_TRY(const JsonField field, config_.at(key));
    return field.as_int64(known.least, known.most);
  }
  Result<int64_t> size_or(std::string_view key, int64_t otherwise) const {
    return given(config_, key) ? size(key) : Result<int64_t>(otherwise);
  }
  // Of experts, which models call by several names.
  Result<int64_t> count_at(std::string_view key, int64_t most) const {
    ASSAY_TRY(const JsonField field, config_.at(key));
    return field.as_int64(1, most);
  }

  Result<int64_t> read_head_dim(int64_t hidden, int64_t heads) const {
    for (const char* key : {"head_dim", "kv_channels"})
      if (given(config_, key)) return size(key);
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

  Result<std::optional<Experts>> read_experts(const ModelKind& kind, int64_t layers,
                                              int64_t intermediate) {
    std::optional<Experts> none;
    if (kind.experts.empty() || !given(config_, kind.experts)) return none;
    Experts experts;
    ASSAY_TRY(experts.count, count_at(kind.experts, kMaxExperts));
    if (experts.count <= 1) return none;
    ASSAY_TRY(experts.per_token, count_at("num_experts_per_tok", experts.count));
    ASSAY_TRY(experts.intermediate, size_or("moe_intermediate_size", intermediate));
    ASSAY_TRY(check_divides(
        given(config_, "moe_intermediate_size") ? "moe_intermediate_size" : "intermediate_size",
        experts.intermediate));
    ASSAY_TRY(experts.shared_intermediate, read_shared(experts.intermediate));
    experts.intermediate /= options_.tensor_parallel;
    experts.shared_intermediate /= options_.tensor_parallel;
    ASSAY_TRY(experts.layers, layers_with_experts(layers));
    if (!options_.expert_tokens)
      notes_.push_back(
          fmt::format("the matrix products of {} experts, of which each token visits {}, are left "
                      "out: the config does "
                      "not say which; --experts uniform, or tokens=N for each, adds them",
                      experts.count, experts.per_token));
    if (experts.layers == 0) return none;
    return experts;
  }

  Result<int64_t> read_shared(int64_t intermediate) const {
    if (given(config_, "shared_expert_intermediate_size"))
      return size("shared_expert_intermediate_size");
    ASSAY_TRY(const int64_t count, size_or("n_shared_experts", 0));
    return std::min(count * intermediate, kMaxSize);
  }

  // Every decoder_sparse_step-th layer has experts, but for those of mlp_only_layers and the first.
  Result<int64_t> layers_with_experts(int64_t layers) const {
    ASSAY_TRY(const int64_t step, size_or("decoder_sparse_step", 1));
    ASSAY_TRY(const int64_t first, size_or("first_k_dense_replace", 0));
    std::vector<bool> plain(static_cast<size_t>(layers));
    if (const auto only = given(config_, "mlp_only_layers")) {
      ASSAY_TRY(const auto items, only->items());
      for (const JsonField& item : items) {
        ASSAY_TRY(const int64_t index, item.as_int64(0, layers - 1));
        plain[static_cast<size_t>(index)] = true;
      }
    }
    int64_t count = 0;
    for (int64_t i = first; i < layers; ++i)
      if ((i + 1) % step == 0 && !plain[static_cast<size_t>(i)]) ++count;
    return count;
  }

  void note_biases(const ModelKind& kind) {
    bool biases = kind.biases;
    for (const char* key : {"attention_bias", "qkv_bias", "mlp_bias", "use_bias", "use_qkv_bias",
                            "add_qkv_bias", "bias", "attention_out_bias"})
      biases = biases || is_true(given(config_, key));
    if (biases && !is_true(given(config_, "no_bias")))
      notes_.emplace_back("biases are added to some of the products: that is not timed");
  }

  void note_other_parts(const ModelKind& kind) {
    for (const char* key : {"vision_config", "audio_config"})
      if (given(parts_.root, key))
        notes_.push_back(
            fmt::format("the part of {} is left out: the matrix products are those of text", key));
    if (given(config_, "num_nextn_predict_layers"))
      notes_.emplace_back("layers that guess further tokens are left out");
    if (kind.type.find("bert") != std::string_view::npos || kind.type == "electra")
      notes_.emplace_back("lm_head is the projection to the vocabulary, which not every use has");
  }

  const JsonField config_;
  const Parts parts_;
  const ModelOptions& options_;
  std::vector<std::string> notes_;
};

// Python writes NaN, Infinity and -Infinity, which JSON does not have: null in the same place.
std::string without_literals(std::string_view text) {
  std::string plain(text);
  bool quoted = false;
  for (size_t at = 0; at < plain.size(); ++at) {
    if (quoted && plain[at] == '\\') {
      ++at;
    } else if (plain[at] == '"') {
      quoted = !quoted;
    } else if (!quoted) {
      for (const std::string_view literal : {"-Infinity", "Infinity", "NaN"}) {
        if (std::string_view(plain).substr(at, literal.size()) != literal) continue;
        // A number stands for NaN, which is shorter than null.
        const std::string_view value = literal == "NaN" ? "0" : "null";
        plain.replace(at, literal.size(), literal.size(), ' ');
        plain.replace(at, value.size(), value);
        break;
      }
    }
  }
  return plain;
}

// Where the sizes of the text's layers are.
Result<Parts> parts_of(const JsonField& root) {
  ASSAY_TRY(root.expect_object());
  JsonField text = root;
  // A model that speaks, too, has the part that thinks in one of its own.
  for (const char* outer : {"", kThinkerPart}) {
    if (*outer != 0 && !text.find("hidden_size")) {
      if (const auto part = given(text, outer)) text = *part;
    }
    if (text.find("hidden_size")) break;
    for (const char* key : kTextParts)
      if (const auto part = given(text, key)) text = *part;
  }
  return Parts{text, root};
}

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

// What is null counts as absent.
Json nullable(Json schema) {
  return {{"anyOf", Json::array({std::move(schema), {{"type", "null"}}})}};
}

Json text_part_schema() {
  const Json text = nullable({{"type", "string"}});
  Json properties = {
      {"model_type", text},
      {"torch_dtype", text},
      {"dtype", text},
      {"layer_types", nullable({{"type", "array"}})},
      {"mlp_only_layers",
       nullable({{"type", "array"}, {"items", {{"type", "integer"}, {"minimum", 0}}}})}};
  Json required = Json::array();
  for (const SizeField& size : kSizes) {
    Json schema = {{"type", "integer"}, {"minimum", size.least}, {"maximum", size.most}};
    const std::string name(size.name);
    properties[name] = size.required ? std::move(schema) : nullable(std::move(schema));
    if (size.required) required.push_back(name);
  }
  return {{"type", "object"}, {"properties", std::move(properties)}, {"required", required}};
}

// An object whose member of this name is like the definition.
Json with_part(const std::string& name, const std::string& definition) {
  return {{"type", "object"},
          {"properties", {{name, {{"$ref", "#/$defs/" + definition}}}}},
          {"required", {name}}};
}

}  // namespace

Json model_schema() {
  Json parts = Json::array({{{"$ref", "#/$defs/text"}}});
  for (const char* name : kTextParts) parts.push_back(with_part(name, "text"));
  Json whole = parts;
  whole.push_back(with_part(kThinkerPart, "thinker"));
  return {{"$schema", "https://json-schema.org/draft/2020-12/schema"},
          {"title", "What is read of a model's configuration (config.json)"},
          {"type", "object"},
          {"anyOf", std::move(whole)},
          {"$defs", {{"text", text_part_schema()}, {"thinker", {{"anyOf", std::move(parts)}}}}}};
}

Result<Suite> parse_model(std::string_view text, const std::filesystem::path& path,
                          const ModelOptions& options) {
  const std::string origin = path.string();
  ASSAY_TRY(const JsonDocument document, parse_json_document(without_literals(text), origin));
  ASSAY_TRY(Parts parts, parts_of(JsonField(document)));
  ModelReader reader(std::move(parts), options);
  ASSAY_TRY(const Model model, reader.read());
  if (model.experts && options.expert_tokens && options.batches.size() > 1)
    return fail(ErrorCode::invalid_input,
                "--experts: {} passes at once; give one --batch, since an expert's matrix products "
                "of one pass "
                "may be of the same sizes as those of another",
                options.batches.size());
  if (options.notes != nullptr) *options.notes = std::move(reader).notes();
  Suite suite{.name = model_name(path, options.tensor_parallel), .problems = {}, .origin = origin};
  for (const int64_t m : options.batches) {
    for (const Operation* operation : built_in_operations()) {
      for (const Piece& piece : pieces_of(model, m, options.expert_tokens)) {
        for (const Json& fields : problems_of(*operation, piece)) {
          auto problem = operation->problem(fields);
          if (!problem)
            return fail(problem.error().code, "{}: {}: {}", origin,
                        fields.value("role", std::string(operation->name())),
                        problem.error().message);
          suite.problems.push_back(std::move(*problem));
        }
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
