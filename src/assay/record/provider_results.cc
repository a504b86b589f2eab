#include "assay/record/provider_results.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "assay/base/archive_schema.h"
#include "assay/base/file.h"
#include "assay/base/text.h"
#include "assay/record/describe_confirm.h"
#include "assay/record/describe_environment.h"
#include "assay/record/result_numbers.h"
#include "assay/record/schemas.h"
#include "assay/tensor/dtype.h"

namespace assay {
namespace {

// Of any rate or time: beyond these a unit was mistaken.
constexpr double kLargest = 1e15, kSmallest = 1e-15;
constexpr std::int64_t kLargestSize = std::int64_t{1} << 40;

Error wrong(const JsonField& field, std::string_view sentence) {
  return field.error(ErrorCode::invalid_input, sentence);
}

// A rate or a time.
struct Measured {
  double value = 0;
};

Status read_value(const JsonField& field, Measured& measured) {
  ASSAY_TRY(measured.value, field.as_double());
  if (measured.value >= kSmallest && measured.value <= kLargest) return {};
  return fail(wrong(field, fmt::format("{} is not a positive number from {:g} to {:g}; a problem "
                                       "that was not measured belongs under \"failed\"",
                                       measured.value, kSmallest, kLargest)));
}

Json schema_value(SchemaOf<Measured>, SchemaTypes&) {
  return {{"type", "number"}, {"minimum", kSmallest}, {"maximum", kLargest}};
}

struct ProblemName {
  std::string text;
};

Status read_value(const JsonField& field, ProblemName& name) {
  ASSAY_TRY(name.text, field.as_string());
  if (matches_name_rule(name.text)) return {};
  return fail(wrong(field, fmt::format("'{}' is no problem's name; names are made of A-Z a-z 0-9 "
                                       "_ . - alone, at most 200 of them",
                                       sanitize(name.text, 80))));
}

Json schema_value(SchemaOf<ProblemName>, SchemaTypes&) {
  return {{"type", "string"}, {"pattern", "^[A-Za-z0-9_.-]{1,200}$"}};
}

struct FilledText {
  std::string text;
};

Status read_value(const JsonField& field, FilledText& filled) {
  ASSAY_TRY(filled.text, field.as_string());
  if (!trim(filled.text).empty()) return {};
  return fail(wrong(field, "is empty; it needs a name"));
}

Json schema_value(SchemaOf<FilledText>, SchemaTypes&) {
  return {{"type", "string"}, {"pattern", "\\S"}};
}

// Whatever its maker says of the kernel.
struct Metadata {
  Json object = Json::object();
};

Status read_value(const JsonField& field, Metadata& metadata) {
  ASSAY_TRY(field.expect_object());
  metadata.object = field.json();
  return {};
}

Json schema_value(SchemaOf<Metadata>, SchemaTypes&) { return {{"type", "object"}}; }

// Known aliases become our names, so that "fp16" and "f16" match; other names stay as they are.
std::string dtype_name(const std::string& text) {
  const std::optional<DType> dtype = find_dtype(text);
  return dtype ? std::string(to_string(*dtype)) : text;
}

// A result as the file has it.
struct StoredResult {
  ProviderResult result;
  ProblemName name;
  FilledText kernel;
  Measured tflops, runtime_ms;
  std::optional<Measured> gflops, gbps;
  std::optional<std::string> dtype;
  std::map<std::string, std::string> dtypes;
  Metadata metadata;
};

template <class A, archive::Is<StoredResult> T>
void describe(A& a, T& stored) {
  constexpr archive::Range kSize{1, double{kLargestSize}};
  auto& result = stored.result;
  a.required("name", stored.name);
  a.required("tflops", stored.tflops);
  a.required("runtime_ms", stored.runtime_ms);
  a.required("kernel", stored.kernel);
  a("m", result.m, kSize);
  a("n", result.n, kSize);
  a("k", result.k, kSize);
  a("batch", result.batch, kSize);
  a("alpha", result.alpha);
  a("beta", result.beta);
  a("dtype", stored.dtype);
  a("dtypes", stored.dtypes);
  a("layout", result.layout);
  a("constant", result.constant);
  a("condition", result.condition);
  a("class", result.race_class);
  a("key", result.key);
  a("kernel_id", result.kernel_id);
  a("kernel_hash", result.kernel_hash);
  a("record", result.record);
  a("gflops", stored.gflops);
  a("gbps", stored.gbps);
  a("verdict", result.verdict);
  a("metadata", stored.metadata);
  a("csv", result.csv);
  a("log", result.log);
}

Status read_value(const JsonField& field, StoredResult& stored) {
  RecordReader reader(field);
  describe(reader, stored);
  ASSAY_TRY(reader.status());
  ProviderResult& out = stored.result;
  out.line = field.line();
  out.name = stored.name.text;
  out.kernel = stored.kernel.text;
  out.tflops = stored.tflops.value;
  out.runtime_ms = stored.runtime_ms.value;
  if (stored.gflops) out.gflops = stored.gflops->value;
  if (stored.gbps) out.gbps = stored.gbps->value;
  if (stored.dtype)
    for (const char* operand : {"a", "b", "out"}) out.dtypes[operand] = dtype_name(*stored.dtype);
  for (const auto& [operand, dtype] : stored.dtypes) out.dtypes[operand] = dtype_name(dtype);
  if (out.constant) std::sort(out.constant->begin(), out.constant->end());
  out.metadata = std::move(stored.metadata.object);
  return check_numbers(field, out);
}

struct StoredResults {
  FilledText provider;
  std::string binary;
  std::vector<StoredResult> results;
  std::vector<ProblemName> failed;
  std::map<std::string, std::string> reasons;
  std::optional<Environment> environment;
};

template <class A, archive::Is<StoredResults> T>
void describe(A& a, T& stored) {
  a.required("provider", stored.provider);
  a("binary", stored.binary);
  a.required("results", stored.results);
  a("failed", stored.failed);
  a("reasons", stored.reasons);
  a("environment", stored.environment);
}

// What tells two results of one file apart.
std::string identity(const ProviderResult& result) {
  std::string text = result.name + "|" + result.layout + "|" + result.condition + "|" +
                     result.race_class + "|" + result.key;
  for (const auto& [operand, dtype] : result.dtypes) text += "|" + operand + "=" + dtype;
  if (result.constant) text += "|constant=" + join(*result.constant, ",");
  return text + fmt::format("|{:g}|{:g}", result.alpha.value_or(1), result.beta.value_or(0));
}

Status check_results_schema(const JsonField& root) {
  const auto field = root.find("schema");
  if (!field || field->is_null()) return {};
  ASSAY_TRY(const std::string schema, field->as_string());
  if (schema == kProviderResultsSchema) return {};
  return fail(wrong(*field, fmt::format("'{}' is not read here; leave the field out or write {}",
                                        sanitize(schema, 80), kProviderResultsSchema)));
}

// Each result once.
Status add_results(const JsonField& root, std::vector<StoredResult> stored, ProviderResults& out) {
  std::map<std::string, int> seen;
  for (StoredResult& one : stored) {
    ProviderResult& result = one.result;
    const auto [first, is_new] = seen.emplace(identity(result), result.line);
    if (!is_new) {
      ASSAY_TRY(const JsonField list, root.at("results"));
      ASSAY_TRY(const std::vector<JsonField> items, list.items());
      return fail(wrong(items[out.results.size()],
                        fmt::format("'{}' is there twice (first on line {}) with nothing to tell "
                                    "the two apart",
                                    result.name, first->second)));
    }
    out.results.push_back(std::move(result));
  }
  return {};
}

// None of which has a result.
Status add_failed(const JsonField& root, const std::vector<ProblemName>& names,
                  ProviderResults& out) {
  for (const ProblemName& name : names) {
    if (const ProviderResult* there = out.find(name.text); there != nullptr) {
      ASSAY_TRY(const JsonField list, root.at("failed"));
      ASSAY_TRY(const std::vector<JsonField> items, list.items());
      return fail(wrong(items[out.failed.size()],
                        fmt::format("'{}' has a result on line {}, and is listed as failed; remove "
                                    "one",
                                    name.text, there->line)));
    }
    out.failed.push_back(name.text);
  }
  return {};
}

Json json_of(const ProviderResult& result) {
  Json json = {{"name", result.name},
               {"tflops", result.tflops},
               {"runtime_ms", result.runtime_ms},
               {"kernel", result.kernel}};
  const auto number = [&](const char* key, const auto& value) {
    if (value) json[key] = *value;
  };
  const auto text = [&](const char* key, const std::string& value) {
    if (!value.empty()) json[key] = value;
  };
  number("m", result.m);
  number("n", result.n);
  number("k", result.k);
  number("batch", result.batch);
  number("alpha", result.alpha);
  number("beta", result.beta);
  number("gflops", result.gflops);
  number("gbps", result.gbps);
  if (!result.dtypes.empty()) json["dtypes"] = result.dtypes;
  // For readers that know of one type alone.
  const auto type_of = [&](const char* operand) {
    const auto found = result.dtypes.find(operand);
    return found == result.dtypes.end() ? std::string() : found->second;
  };
  if (type_of("a") == type_of("b") && type_of("a") == type_of("out")) text("dtype", type_of("a"));
  if (result.constant) json["constant"] = *result.constant;
  text("layout", result.layout);
  text("condition", result.condition);
  text("class", result.race_class);
  text("key", result.key);
  text("kernel_id", result.kernel_id);
  text("kernel_hash", result.kernel_hash);
  text("record", result.record);
  text("csv", result.csv);
  text("log", result.log);
  if (result.verdict) json["verdict"] = to_json(*result.verdict);
  if (!result.metadata.empty()) json["metadata"] = result.metadata;
  return json;
}

}  // namespace

bool is_complex_type(std::string_view dtype) {
  return dtype.size() > 2 && dtype[0] == 'c' && find_dtype(dtype.substr(1)).has_value();
}

double ProviderResult::work() const {
  if (!m || !n || !k) return 0;
  const auto a = dtypes.find("a"), b = dtypes.find("b");
  const auto is_complex = [&](auto found) {
    return found != dtypes.end() && is_complex_type(found->second);
  };
  return (is_complex(a) || is_complex(b) ? 8.0 : 2.0) * static_cast<double>(*m) *
         static_cast<double>(*n) * static_cast<double>(*k) * static_cast<double>(batch.value_or(1));
}

const ProviderResult* ProviderResults::find(std::string_view name) const {
  for (const ProviderResult& result : results) {
    if (result.name == name) return &result;
  }
  return nullptr;
}

Json provider_results_schema() {
  SchemaTypes types;
  Json schema = archive::object_schema<StoredResults>(types);
  schema["properties"]["schema"] = {{"enum", {kProviderResultsSchema, nullptr}}};
  return with_head("Results of a provider (<provider>_results.json), as any tool may write them",
                   std::move(schema), types);
}

Result<ProviderResults> read_provider_results(const JsonDocument& document) {
  const JsonField root(document);
  ASSAY_TRY(root.expect_object());
  ASSAY_TRY(check_results_schema(root));
  ProviderResults out;
  out.origin = document.origin;
  RecordReader reader(root);
  StoredResults stored;
  describe(reader, stored);
  ASSAY_TRY(reader.status());
  out.provider = stored.provider.text;
  out.binary = std::move(stored.binary);
  out.reasons = std::move(stored.reasons);
  out.environment = std::move(stored.environment);
  if (!matches_name_rule(out.provider)) {
    ASSAY_TRY(const JsonField provider, root.at("provider"));
    return fail(wrong(provider, fmt::format("'{}' is no provider's name; names are made of A-Z a-z "
                                            "0-9 _ . - alone",
                                            sanitize(out.provider, 80))));
  }
  ASSAY_TRY(add_results(root, std::move(stored.results), out));
  ASSAY_TRY(add_failed(root, stored.failed, out));
  return out;
}

Result<ProviderResults> load_provider_results(const std::string& path) {
  ASSAY_TRY(const std::string text, read_file(path));
  ASSAY_TRY(const JsonDocument document, parse_json_document(text, path));
  return read_provider_results(document);
}

Json to_json(const ProviderResults& results) {
  Json list = Json::array();
  for (const ProviderResult& result : results.results) list.push_back(json_of(result));
  Json json = {{"schema", std::string(kProviderResultsSchema)},
               {"provider", results.provider},
               {"results", std::move(list)},
               {"failed", results.failed}};
  if (!results.reasons.empty()) json["reasons"] = results.reasons;
  if (!results.binary.empty()) json["binary"] = results.binary;
  if (results.environment) json["environment"] = to_json(*results.environment);
  return json;
}

Status write_provider_results(const std::string& path, const ProviderResults& results) {
  return write_file_atomic(path, dump_pretty(to_json(results)));
}

}  // namespace assay
