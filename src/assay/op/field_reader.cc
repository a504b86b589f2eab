#include "assay/op/field_reader.h"

#include <algorithm>

#include <fmt/format.h>

#include "assay/base/operation_name.h"
#include "assay/base/text.h"

namespace assay {
namespace {

constexpr std::string_view kOperation = "operation";

tl::unexpected<Error> wrong(std::string_view name, const Json& value, std::string_view wanted) {
  return fail(ErrorCode::invalid_input, "{}: {} is not {}", name, sanitize(canonical(value), 60),
              wanted);
}

}  // namespace

Status FieldReader::check() const {
  if (!fields_.is_object())
    return fail(ErrorCode::invalid_input, "{}: the fields of a problem are a JSON object",
                operation_title(operation_));
  std::vector<std::string> known = {std::string(kOperation)};
  for (const FieldRule& rule : rules_) known.push_back(rule.name);
  for (const auto& [name, value] : fields_.items()) {
    if (std::ranges::find(known, name) == known.end())
      return fail(ErrorCode::invalid_input, "{}: {} has no such field{}", sanitize(name, 60),
                  operation_title(operation_), did_you_mean(name, known));
  }
  for (const FieldRule& rule : rules_)
    if (rule.required && !fields_.contains(rule.name))
      return fail(ErrorCode::invalid_input, "{}: missing; {}", rule.name, rule.help);
  std::string named(operation_);
  ASSAY_TRY(text(kOperation, named));
  if (named != operation_)
    return fail(ErrorCode::invalid_input, "{}: '{}' is not {}", kOperation, sanitize(named, 60),
                operation_title(operation_));
  return {};
}

Status FieldReader::integer(std::string_view name, int64_t& out) const {
  const Json* value = find(name);
  if (value == nullptr) return {};
  const bool fits = value->is_number_integer() &&
                    !(value->is_number_unsigned() && value->get<uint64_t>() > INT64_MAX);
  if (!fits) return wrong(name, *value, "an integer of 64 bits");
  const auto given = value->get<int64_t>();
  const auto rule = std::ranges::find(rules_, name, &FieldRule::name);
  if (rule != rules_.end() && rule->min < rule->max && (given < rule->min || given > rule->max))
    return fail(ErrorCode::invalid_input, "{}: {} is out of range: {} .. {}", name, given,
                rule->min, rule->max);
  out = given;
  return {};
}

Status FieldReader::integer(std::string_view name, std::optional<int64_t>& out) const {
  if (find(name) == nullptr) return {};
  return integer(name, out.emplace());
}

Status FieldReader::number(std::string_view name, double& out) const {
  const Json* value = find(name);
  if (value == nullptr) return {};
  if (!value->is_number()) return wrong(name, *value, "a number");
  out = value->get<double>();
  return {};
}

Status FieldReader::text(std::string_view name, std::string& out) const {
  const Json* value = find(name);
  if (value == nullptr) return {};
  if (!value->is_string()) return wrong(name, *value, "text");
  out = value->get<std::string>();
  return {};
}

Status FieldReader::dtype(std::string_view name, std::optional<DType>& out) const {
  if (find(name) == nullptr) return {};
  std::string named;
  ASSAY_TRY(text(name, named));
  auto parsed = parse_dtype(named);
  if (!parsed) return fail(with_context(parsed.error(), name));
  out = *parsed;
  return {};
}

Status FieldReader::texts(std::string_view name, std::vector<std::string>& out) const {
  const Json* value = find(name);
  if (value == nullptr) return {};
  if (!value->is_array()) return wrong(name, *value, "a list of names");
  for (const Json& item : *value) {
    if (!item.is_string()) return wrong(name, item, "a name");
    out.push_back(item.get<std::string>());
  }
  return {};
}

const Json* FieldReader::find(std::string_view name) const {
  const auto found = fields_.find(name);
  return found == fields_.end() ? nullptr : &*found;
}

}  // namespace assay
