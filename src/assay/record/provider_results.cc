#include "assay/record/provider_results.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "assay/base/file.h"
#include "assay/base/text.h"
#include "assay/record/result_numbers.h"
#include "assay/tensor/dtype.h"

namespace assay {
namespace {

// Of any rate or time: beyond these a unit was mistaken.
constexpr double kLargest = 1e15, kSmallest = 1e-15;
constexpr std::int64_t kLargestSize = std::int64_t{1} << 40;

Error wrong(const JsonField& field, std::string_view sentence) {
  return field.error(ErrorCode::invalid_input, sentence);
}

Result<double> positive(const JsonField& field) {
  ASSAY_TRY(const double value, field.as_double());
  if (value >= kSmallest && value <= kLargest) return value;
  return fail(wrong(field, fmt::format("{} is not a positive number from {:g} to {:g}; a problem "
                                       "that was not measured belongs under \"failed\"",
                                       value, kSmallest, kLargest)));
}

Result<std::string> problem_name(const JsonField& field) {
  ASSAY_TRY(std::string name, field.as_string());
  if (matches_name_rule(name)) return name;
  return fail(wrong(field, fmt::format("'{}' is no problem's name; names are made of A-Z a-z 0-9 "
                                       "_ . - alone, at most 200 of them",
                                       sanitize(name, 80))));
}

Result<std::string> filled_text(const JsonField& field) {
  ASSAY_TRY(std::string text, field.as_string());
  if (!trim(text).empty()) return text;
  return fail(wrong(field, "is empty; it needs a name"));
}

// Known aliases become our names, so that "fp16" and "f16" match; other names stay as they are.
std::string dtype_name(const std::string& text) {
  const std::optional<DType> dtype = find_dtype(text);
  return dtype ? std::string(to_string(*dtype)) : text;
}

// Optional fields; null counts as absent.
std::optional<JsonField> given(const JsonField& field, std::string_view key) {
  std::optional<JsonField> found = field.find(key);
  if (found && found->is_null()) found.reset();
  return found;
}

Status read_text(const JsonField& field, std::string_view key, std::string& out) {
  if (const auto found = given(field, key)) {
    ASSAY_TRY(out, found->as_string());
  }
  return {};
}

Status read_size(const JsonField& field, std::string_view key, std::optional<std::int64_t>& out) {
  if (const auto found = given(field, key)) {
    ASSAY_TRY(out, found->as_int64(1, kLargestSize));
  }
  return {};
}

Status read_rate(const JsonField& field, std::string_view key, std::optional<double>& out) {
  if (const auto found = given(field, key)) {
    ASSAY_TRY(out, positive(*found));
  }
  return {};
}

Status read_dtypes(const JsonField& field, ProviderResult& out) {
  if (const auto dtype = given(field, "dtype")) {
    ASSAY_TRY(const std::string text, dtype->as_string());
    for (const char* operand : {"a", "b", "out"}) out.dtypes[operand] = dtype_name(text);
  }
  if (const auto dtypes = given(field, "dtypes")) {
    ASSAY_TRY(const auto members, dtypes->members());
    for (const auto& [operand, member] : members) {
      ASSAY_TRY(const std::string text, member.as_string());
      out.dtypes[operand] = dtype_name(text);
    }
  }
  return {};
}

Status read_constant(const JsonField& field, ProviderResult& out) {
  const auto constant = given(field, "constant");
  if (!constant) return {};
  ASSAY_TRY(const std::vector<JsonField> items, constant->items());
  out.constant.emplace();
  for (const JsonField& item : items) {
    ASSAY_TRY(std::string operand, item.as_string());
    out.constant->push_back(std::move(operand));
  }
  std::sort(out.constant->begin(), out.constant->end());
  return {};
}

Status read_scalar(const JsonField& field, std::string_view key, std::optional<double>& out) {
  if (const auto found = given(field, key)) {
    ASSAY_TRY(out, found->as_double());
  }
  return {};
}

Result<ProviderResult> read_result(const JsonField& field) {
  ProviderResult out;
  out.line = field.line();
  ASSAY_TRY(const JsonField name, field.at("name"));
  ASSAY_TRY(out.name, problem_name(name));
  ASSAY_TRY(const JsonField tflops, field.at("tflops"));
  ASSAY_TRY(out.tflops, positive(tflops));
  ASSAY_TRY(const JsonField runtime, field.at("runtime_ms"));
  ASSAY_TRY(out.runtime_ms, positive(runtime));
  ASSAY_TRY(const JsonField kernel, field.at("kernel"));
  ASSAY_TRY(out.kernel, filled_text(kernel));
  ASSAY_TRY(read_size(field, "m", out.m));
  ASSAY_TRY(read_size(field, "n", out.n));
  ASSAY_TRY(read_size(field, "k", out.k));
  ASSAY_TRY(read_size(field, "batch", out.batch));
  ASSAY_TRY(read_scalar(field, "alpha", out.alpha));
  ASSAY_TRY(read_scalar(field, "beta", out.beta));
  ASSAY_TRY(read_dtypes(field, out));
  ASSAY_TRY(read_text(field, "layout", out.layout));
  ASSAY_TRY(read_constant(field, out));
  ASSAY_TRY(read_text(field, "condition", out.condition));
  ASSAY_TRY(read_text(field, "class", out.race_class));
  ASSAY_TRY(read_text(field, "key", out.key));
  ASSAY_TRY(read_text(field, "kernel_id", out.kernel_id));
  ASSAY_TRY(read_text(field, "kernel_hash", out.kernel_hash));
  ASSAY_TRY(read_text(field, "record", out.record));
  ASSAY_TRY(read_rate(field, "gflops", out.gflops));
  ASSAY_TRY(read_rate(field, "gbps", out.gbps));
  if (const auto verdict = given(field, "verdict")) {
    ASSAY_TRY(out.verdict, read_verdict(*verdict));
  }
  if (const auto metadata = given(field, "metadata")) {
    ASSAY_TRY(metadata->expect_object());
    out.metadata = metadata->json();
  }
  ASSAY_TRY(read_text(field, "csv", out.csv));
  ASSAY_TRY(read_text(field, "log", out.log));
  ASSAY_TRY(check_numbers(field, out));
  return out;
}

// What tells two results of one file apart.
std::string identity(const ProviderResult& result) {
  std::string text = result.name + "|" + result.layout + "|" + result.condition + "|" +
                     result.race_class + "|" + result.key;
  for (const auto& [operand, dtype] : result.dtypes) text += "|" + operand + "=" + dtype;
  if (result.constant) text += "|constant=" + join(*result.constant, ",");
  return text + fmt::format("|{:g}|{:g}", result.alpha.value_or(1), result.beta.value_or(0));
}

Status check_schema(const JsonField& root) {
  const auto field = given(root, "schema");
  if (!field) return {};
  ASSAY_TRY(const std::string schema, field->as_string());
  if (schema == kProviderResultsSchema) return {};
  return fail(wrong(*field, fmt::format("'{}' is not read here; leave the field out or write {}",
                                        sanitize(schema, 80), kProviderResultsSchema)));
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

Result<ProviderResults> read_provider_results(const JsonDocument& document) {
  const JsonField root(document);
  ASSAY_TRY(root.expect_object());
  ASSAY_TRY(check_schema(root));
  ProviderResults out;
  out.origin = document.origin;
  ASSAY_TRY(const JsonField provider, root.at("provider"));
  ASSAY_TRY(out.provider, filled_text(provider));
  if (!matches_name_rule(out.provider)) {
    return fail(wrong(provider, fmt::format("'{}' is no provider's name; names are made of A-Z a-z "
                                            "0-9 _ . - alone",
                                            sanitize(out.provider, 80))));
  }
  ASSAY_TRY(read_text(root, "binary", out.binary));
  ASSAY_TRY(const JsonField results, root.at("results"));
  ASSAY_TRY(const std::vector<JsonField> items, results.items());
  std::map<std::string, int> seen;
  for (const JsonField& item : items) {
    ASSAY_TRY(ProviderResult result, read_result(item));
    const auto [first, is_new] = seen.emplace(identity(result), result.line);
    if (!is_new) {
      return fail(wrong(item, fmt::format("'{}' is there twice (first on line {}) with nothing to "
                                          "tell the two apart",
                                          result.name, first->second)));
    }
    out.results.push_back(std::move(result));
  }
  if (const auto failed = given(root, "failed")) {
    ASSAY_TRY(const std::vector<JsonField> names, failed->items());
    for (const JsonField& item : names) {
      ASSAY_TRY(std::string name, problem_name(item));
      if (const ProviderResult* there = out.find(name); there != nullptr)
        return fail(
            wrong(item, fmt::format("'{}' has a result on line {}, and is listed as failed; "
                                    "remove one",
                                    name, there->line)));
      out.failed.push_back(std::move(name));
    }
  }
  if (const auto reasons = given(root, "reasons")) {
    ASSAY_TRY(const auto members, reasons->members());
    for (const auto& [name, member] : members) {
      ASSAY_TRY(out.reasons[name], member.as_string());
    }
  }
  if (const auto environment = given(root, "environment")) {
    ASSAY_TRY(out.environment, read_environment(*environment));
  }
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
