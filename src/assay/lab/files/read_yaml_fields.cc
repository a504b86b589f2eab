#include "assay/lab/files/read_yaml_fields.h"

#include <charconv>
#include <cmath>
#include <filesystem>

#include "assay/base/text.h"
#include "assay/lab/files/environment_rules.h"
#include "assay/lab/files/form_pieces.h"

namespace assay::lab {

using input::YamlField;

std::string_view to_string(Direction direction) {
  return direction == Direction::minimize ? "minimize" : "maximize";
}

Status check_schema(const YamlField& root, std::string_view schema) {
  ASSAY_TRY(const YamlField field, root.at("schema"));
  ASSAY_TRY(const std::string found, field.as_string());
  if (found == schema) return {};
  return fail(field.error(fmt::format("'{}' is not a schema that this version reads here; write {}",
                                      sanitize(found, 80), schema)));
}

Result<std::string> text_at(const YamlField& field, std::string_view key) {
  ASSAY_TRY(const YamlField value, field.at(key));
  ASSAY_TRY(std::string text, value.as_string());
  if (trim(text).empty()) return fail(value.error("it is empty"));
  return text;
}

Result<std::string> text_or(const YamlField& field, std::string_view key, std::string otherwise) {
  ASSAY_TRY(const auto value, field.find(key));
  if (!value) return otherwise;
  return value->as_string();
}

Result<std::vector<std::string>> texts_or_none(const YamlField& field, std::string_view key) {
  ASSAY_TRY(const auto value, field.find(key));
  if (!value) return std::vector<std::string>();
  return value->as_strings();
}

Result<double> seconds_or(const YamlField& field, std::string_view key, double otherwise) {
  ASSAY_TRY(const auto value, field.find(key));
  if (!value) return otherwise;
  return value->as_double(kLeastSeconds, kMostSeconds);
}

Result<double> as_fraction(const YamlField& field) {
  if (const auto number = field.as_double(0, 1)) return *number;
  const auto text = field.as_string();
  double value = 0;
  if (text && text->ends_with('%')) {
    const std::string_view digits = trim(std::string_view(*text).substr(0, text->size() - 1));
    const auto [end, fault] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (fault == std::errc() && end == digits.data() + digits.size() && value >= 0 && value <= 100)
      return value / 100;
  }
  return fail(field.error("expected a share such as 0.5% or 0.005"));
}

Result<Direction> as_direction(const YamlField& field) {
  ASSAY_TRY(const std::string word, field.as_string());
  if (word == "minimize") return Direction::minimize;
  if (word == "maximize") return Direction::maximize;
  return fail(
      field.error(fmt::format("'{}' is no direction: minimize or maximize", sanitize(word, 60))));
}

Result<std::string> as_inner_path(const YamlField& field) {
  ASSAY_TRY(std::string text, field.as_string());
  const std::filesystem::path path(text);
  bool climbs = text.empty() || path.is_absolute();
  for (const auto& part : path) climbs |= part == "..";
  if (climbs)
    return fail(field.error(fmt::format(
        "'{}' must be a path within the case's folder, without '..'", sanitize(text, 200))));
  return text;
}

Result<std::map<std::string, std::string>> as_environment(const YamlField& field) {
  std::map<std::string, std::string> environment;
  ASSAY_TRY(const auto members, field.members());
  for (const auto& [name, value] : members) {
    if (auto status = check_variable(name); !status)
      return fail(value.error(status.error().message));
    const auto text = value.as_string();
    if (text) {
      environment[name] = *text;
      continue;
    }
    ASSAY_TRY(const Value written, value.as_value());
    environment[name] = assay::to_string(written);
  }
  return environment;
}

}  // namespace assay::lab
