#include "assay/serve/body_fields.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "assay/base/text.h"

namespace assay::serve {

Outcome<Json> parse_body(std::string_view body) {
  auto parsed = parse_json(body, "body");
  if (!parsed) return refuse({.status = 400, .message = parsed.error().message});
  if (!parsed->is_object())
    return refuse({.status = 400, .message = "The body must be an object of JSON."});
  return std::move(*parsed);
}

const Json* BodyFields::find(std::string_view name) {
  known_.push_back(name);
  const auto found = object_.find(name);
  return found == object_.end() || found->is_null() ? nullptr : &*found;
}

void BodyFields::wrong(std::string_view name, std::string_view must) {
  if (error_) return;
  error_ = {.status = 400,
            .message = fmt::format("{}{} {}.", path_, name, must),
            .param = fmt::format("{}{}", path_, name)};
}

void BodyFields::read(std::string_view name, bool& value) {
  const Json* field = find(name);
  if (field == nullptr) return;
  if (field->is_boolean())
    value = field->get<bool>();
  else
    wrong(name, "must be true or false");
}

void BodyFields::read(std::string_view name, std::string& value) {
  const Json* field = find(name);
  if (field == nullptr) return;
  if (field->is_string())
    value = field->get_ref<const std::string&>();
  else
    wrong(name, "must be a string");
}

void BodyFields::read(std::string_view name, double least, double most, double& value) {
  const Json* field = find(name);
  if (field == nullptr) return;
  const double number = field->is_number() ? field->get<double>() : least - 1;
  if (number >= least && number <= most)
    value = number;
  else
    wrong(name, fmt::format("must be a number from {} to {}", least, most));
}

void BodyFields::read(std::string_view name, std::int64_t least, std::int64_t most,
                      std::optional<std::int64_t>& value) {
  const Json* field = find(name);
  if (field == nullptr) return;
  const bool fits = field->is_number_integer() &&
                    (!field->is_number_unsigned() || field->get<std::uint64_t>() <= INT64_MAX);
  if (fits && field->get<std::int64_t>() >= least && field->get<std::int64_t>() <= most)
    value = field->get<std::int64_t>();
  else if (fits && least != INT64_MIN && field->get<std::int64_t>() > most)
    wrong(name, fmt::format("must be at most {}", most));
  else if (least == INT64_MIN || most >= INT32_MAX)
    wrong(name, least == INT64_MIN ? std::string("must be a whole number of 64 bits")
                                   : fmt::format("must be a whole number from {} on", least));
  else
    wrong(name, fmt::format("must be a whole number from {} to {}", least, most));
}

void BodyFields::read(std::string_view name, std::int64_t least, std::int64_t most, int& value) {
  std::optional<std::int64_t> number;
  read(name, least, most, number);
  if (number) value = static_cast<int>(*number);
}

const Json* BodyFields::find_object(std::string_view name) {
  const Json* field = find(name);
  if (field == nullptr || field->is_object()) return field;
  wrong(name, "must be an object");
  return nullptr;
}

void BodyFields::tolerate(std::initializer_list<std::string_view> names) {
  known_.insert(known_.end(), names.begin(), names.end());
}

void BodyFields::refuse_unknown() {
  for (const auto& [name, value] : object_.items())
    if (std::ranges::find(known_, name) == known_.end())
      return wrong(sanitize(name, 80), "is no field that this server knows (--strict)");
}

}  // namespace assay::serve
