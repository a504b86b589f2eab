#include "assay/input/shape_fields.h"

#include <algorithm>
#include <charconv>
#include <limits>

#include "assay/base/text.h"
#include "assay/tensor/dtype.h"

namespace assay::input {

std::vector<FieldRule> shape_rules(const Operation& operation) {
  std::vector<FieldRule> rules(operation.fields().begin(), operation.fields().end());
  const auto add = [&](const char* name, FieldRule::Kind kind, const char* help) {
    if (find_rule(rules, name) == nullptr) {
      FieldRule rule{};
      rule.name = name;
      rule.kind = kind;
      rule.help = help;
      rules.push_back(std::move(rule));
    }
  };
  add("name", FieldRule::Kind::text, "unique in its suite");
  add("role", FieldRule::Kind::text, "prefill, decode ...");
  add("weight", FieldRule::Kind::number, "how often a model calls it");
  return rules;
}

const FieldRule* find_rule(const std::vector<FieldRule>& rules, std::string_view name) {
  const auto found = std::find_if(rules.begin(), rules.end(),
                                  [&](const FieldRule& rule) { return rule.name == name; });
  return found == rules.end() ? nullptr : &*found;
}

std::vector<std::string> rule_names(const std::vector<FieldRule>& rules) {
  std::vector<std::string> names;
  for (const FieldRule& rule : rules) names.push_back(rule.name);
  return names;
}

std::pair<int64_t, int64_t> bounds(const FieldRule& rule) {
  if (rule.min >= rule.max) {
    return {std::numeric_limits<int64_t>::min(), std::numeric_limits<int64_t>::max()};
  }
  return {rule.min, rule.max};
}

std::optional<std::string> text_problem(const FieldRule& rule, std::string_view text) {
  if (rule.kind == FieldRule::Kind::dtype) {
    if (const auto dtype = parse_dtype(text); !dtype) return dtype.error().message;
  }
  if (rule.name == "name" && !matches_name_rule(text)) {
    return fmt::format("'{}' cannot be a name; use letters, digits, '_', '.' and '-', at most 200",
                       sanitize(text, 60));
  }
  if (text.size() > 200) return "more than 200 characters; shorten it";
  if (sanitize(text) != text) return "holds control characters; remove them";
  return std::nullopt;
}

std::vector<std::pair<std::string, int64_t>> sizes_in_name(std::string_view name,
                                                           const std::vector<FieldRule>& rules) {
  std::vector<std::pair<std::string, int64_t>> sizes;
  for (size_t begin = 0; begin < name.size();) {
    const size_t end = std::min(name.find_first_of("_.-", begin), name.size());
    const std::string_view part = name.substr(begin, end - begin);
    begin = end + 1;
    const size_t digits = part.find_first_of("0123456789");
    if (digits == 0 || digits == std::string_view::npos) continue;
    std::string field(part.substr(0, digits));
    if (field == "l" && find_rule(rules, "l") == nullptr) field = "batch";
    const FieldRule* rule = find_rule(rules, field);
    if (rule == nullptr || rule->kind != FieldRule::Kind::integer) continue;
    int64_t size = 0;
    const auto [stop, code] =
        std::from_chars(part.data() + digits, part.data() + part.size(), size);
    if (code == std::errc{} && stop == part.data() + part.size()) sizes.emplace_back(field, size);
  }
  return sizes;
}

Result<Json> with_sizes_of_name(Json fields, const std::vector<FieldRule>& rules) {
  const auto name = fields.find("name");
  if (name == fields.end() || !name->is_string()) return fields;
  for (const auto& [field, size] : sizes_in_name(name->get<std::string>(), rules)) {
    const auto given = fields.find(field);
    if (given == fields.end()) {
      const auto [min, max] = bounds(*find_rule(rules, field));
      if (size < min || size > max) {
        return fail(ErrorCode::invalid_input,
                    "name says {} = {}, which is out of range; it is an integer from {} to {}",
                    field, size, min, max);
      }
      fields[field] = size;
    } else if (given->get<int64_t>() != size) {
      return fail(ErrorCode::invalid_input,
                  "name says {} = {}, but the field {} is {}; change one so that they agree", field,
                  size, field, given->get<int64_t>());
    }
  }
  return fields;
}

FieldError take_apart(std::string_view message, const std::vector<FieldRule>& rules) {
  const size_t colon = std::min(message.find(": "), message.size());
  if (find_rule(rules, message.substr(0, colon)) == nullptr) return {{}, std::string(message)};
  return {std::string(message.substr(0, colon)), std::string(message.substr(colon + 2))};
}

}  // namespace assay::input
