#include "assay/base/archive_schema.h"

#include <cmath>

namespace assay {

void SchemaWriter::add(const char* key, Json schema) {
  if (!schema.contains("anyOf") && !schema.empty())
    schema = {{"anyOf", Json::array({std::move(schema)})}};
  const Json null = {{"type", "null"}};
  if (!schema.empty() && schema["anyOf"].back() != null) schema["anyOf"].push_back(null);
  properties_[key] = std::move(schema);
}

void SchemaWriter::add_required(const char* key, Json schema) {
  properties_[key] = std::move(schema);
  required_.push_back(key);
}

Json SchemaWriter::take() {
  Json schema = {{"type", "object"}, {"properties", std::move(properties_)}};
  if (!required_.empty()) schema["required"] = std::move(required_);
  return schema;
}

Json with_head(std::string_view title, Json schema, const SchemaTypes& types) {
  schema["$schema"] = "https://json-schema.org/draft/2020-12/schema";
  schema["title"] = std::string(title);
  if (!types.all().empty()) schema["$defs"] = types.all();
  return schema;
}

namespace archive {
namespace {

constexpr std::size_t kNoBound = std::numeric_limits<std::size_t>::max();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

// A whole number without a point.
Json bound(double value) {
  const auto whole = static_cast<std::int64_t>(std::abs(value) < 0x1p53 ? value : 0);
  return static_cast<double>(whole) == value ? Json(whole) : Json(value);
}

}  // namespace

std::string name_in_signature(std::string_view function) {
  const size_t begin = function.find("T = ") + 4;
  std::string_view name = function.substr(begin, function.find_first_of(";]", begin) - begin);
  constexpr std::string_view kOurs = "assay::";
  if (name.starts_with(kOurs)) name.remove_prefix(kOurs.size());
  std::string out;
  for (size_t i = 0; i < name.size(); ++i) {
    if (name[i] == ':') ++i;
    out += name[i] == ':' ? '.' : name[i];
  }
  return out;
}

Json bool_schema() { return {{"type", "boolean"}}; }

Json number_schema(const Range& range) {
  Json schema = {{"type", "number"}};
  if (range.min > 0 && range.min < 1e-300)  // kPositive
    schema["exclusiveMinimum"] = 0;
  else if (range.min > -kInfinity)
    schema["minimum"] = bound(range.min);
  if (range.max < kInfinity) schema["maximum"] = bound(range.max);
  return schema;
}

Json integer_schema(const Range& range, double lowest, double highest) {
  Json schema = {{"type", "integer"}};
  const double low = range.min > 0 && range.min < 1 ? 1 : range.min > lowest ? range.min : lowest;
  if (low > -0x1p62) schema["minimum"] = static_cast<std::int64_t>(low);
  const double high = range.max < highest ? range.max : highest;
  if (high < 0x1p62) schema["maximum"] = static_cast<std::int64_t>(high);
  return schema;
}

Json text_schema(const Range& range) {
  Json schema = {{"type", "string"}};
  if (range.most != kNoBound) schema["maxLength"] = range.most;
  return schema;
}

Json list_schema(Json items, const Range& range) {
  Json schema = {{"type", "array"}};
  if (!items.empty()) schema["items"] = std::move(items);
  if (range.most != kNoBound) schema["maxItems"] = range.most;
  return schema;
}

Json map_schema(Json items) {
  Json schema = {{"type", "object"}};
  if (!items.empty()) schema["additionalProperties"] = std::move(items);
  return schema;
}

Json or_null(Json schema) {
  if (schema.empty()) return schema;
  return {{"anyOf", Json::array({std::move(schema), {{"type", "null"}}})}};
}

Json reference_schema(const std::string& name) { return {{"$ref", "#/$defs/" + name}}; }

}  // namespace archive
}  // namespace assay
