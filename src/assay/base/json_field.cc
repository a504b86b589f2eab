#include <cmath>

#include "assay/base/json.h"
#include "assay/base/text.h"

namespace assay {
namespace {

bool is_plain_key(std::string_view key) {
  if (key.empty() || key.size() > 60) return false;
  for (char c : key) {
    const bool word = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    if (!word && c != '_' && c != '-') return false;
  }
  return true;
}

// "an object", "the text 'abc'", "12": what the user wrote, short enough for a sentence.
std::string describe(const Json& value) {
  switch (value.type()) {
    case Json::value_t::object:
      return "an object";
    case Json::value_t::array:
      return "a list";
    case Json::value_t::string:
      return fmt::format("the text '{}'", sanitize(value.get_ref<const std::string&>(), 60));
    default:
      return value.dump();
  }
}

template <class Object>
std::vector<std::string_view> keys_of(const Object& object) {
  std::vector<std::string_view> keys;
  for (const auto& [key, value] : object) keys.push_back(key);
  return keys;
}

}  // namespace

JsonField::JsonField(const JsonDocument& document)
    : JsonField(&document, &document.root, {}, JsonDocument::root_key(), 1) {}

JsonField::JsonField(const JsonDocument* document, const Json* value, std::string path,
                     std::uint64_t key, int parent_line)
    : document_(document),
      value_(value),
      path_(std::move(path)),
      key_(key),
      line_(document->line_of_key(key, parent_line)) {}

// A document whose lines are not known needs no keys to find them by.
JsonField JsonField::child(const std::string& key, const Json& value) const {
  std::string path = path_;
  if (is_plain_key(key)) {
    if (!path.empty()) path += '.';
    path += key;
  } else {
    path += fmt::format("['{}']", sanitize(key, 60));
  }
  const std::uint64_t place = document_->lines_.empty() ? key_ : JsonDocument::child_key(key_, key);
  return JsonField(document_, &value, std::move(path), place, line_);
}

JsonField JsonField::child(std::size_t index, const Json& value) const {
  const std::string number = std::to_string(index);
  std::string path = path_;
  path.append("[").append(number).append("]");
  const std::uint64_t place =
      document_->lines_.empty() ? key_ : JsonDocument::child_key(key_, number);
  return JsonField(document_, &value, std::move(path), place, line_);
}

int JsonField::line() const { return line_; }

Error JsonField::error(ErrorCode code, std::string_view sentence) const {
  const std::string place = fmt::format("{}:{}", document_->origin, line_);
  return {code, path_.empty() ? fmt::format("{}: {}", place, sentence)
                              : fmt::format("{}: {}: {}", place, path_, sentence)};
}

Error JsonField::wants(std::string_view what) const {
  return error(ErrorCode::invalid_input,
               fmt::format("must be {}, but is {}", what, describe(*value_)));
}

Status JsonField::expect_object() const {
  if (!value_->is_object()) return fail(wants("an object"));
  return {};
}

Result<JsonField> JsonField::at(std::string_view key) const {
  ASSAY_TRY(expect_object());
  const auto& object = value_->get_ref<const Json::object_t&>();
  if (const auto member = object.find(std::string(key)); member != object.end()) {
    return child(member->first, member->second);
  }
  return fail(error(ErrorCode::invalid_input,
                    fmt::format("the required key '{}' is missing{}", sanitize(key, 60),
                                did_you_mean(key, keys_of(object)))));
}

std::optional<JsonField> JsonField::find(std::string_view key) const {
  if (!value_->is_object()) return std::nullopt;
  const auto& object = value_->get_ref<const Json::object_t&>();
  const auto member = object.find(std::string(key));
  if (member == object.end()) return std::nullopt;
  return child(member->first, member->second);
}

Result<std::string> JsonField::as_string() const {
  if (!value_->is_string()) return fail(wants("text in quotes"));
  return value_->get_ref<const std::string&>();
}

Result<bool> JsonField::as_bool() const {
  if (!value_->is_boolean()) return fail(wants("true or false"));
  return value_->get<bool>();
}

// What is wanted is put into words only where something else is there: messages are read by the
// million.
Result<std::int64_t> JsonField::as_int64(std::int64_t min, std::int64_t max) const {
  const bool fits = value_->is_number_integer() &&
                    !(value_->is_number_unsigned() &&
                      value_->get<std::uint64_t>() >
                          static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) &&
                    value_->get<std::int64_t>() >= min && value_->get<std::int64_t>() <= max;
  if (fits) return value_->get<std::int64_t>();
  const bool bounded_below = min != std::numeric_limits<std::int64_t>::min();
  const bool bounded_above = max != std::numeric_limits<std::int64_t>::max();
  return fail(wants(bounded_below && bounded_above
                        ? fmt::format("an integer from {} to {}", min, max)
                    : bounded_below ? fmt::format("an integer of at least {}", min)
                    : bounded_above ? fmt::format("an integer of at most {}", max)
                                    : std::string("an integer of 64 bits")));
}

Result<double> JsonField::as_double(double min, double max) const {
  if (value_->is_number()) {
    const auto number = value_->get<double>();
    if (std::isfinite(number) && number >= min && number <= max) return number;
  }
  return fail(wants(std::isfinite(min) && std::isfinite(max)
                        ? fmt::format("a number from {} to {}", min, max)
                    : std::isfinite(min) ? fmt::format("a number of at least {}", min)
                    : std::isfinite(max) ? fmt::format("a number of at most {}", max)
                                         : std::string("a finite number")));
}

Result<std::vector<JsonField>> JsonField::items() const {
  if (!value_->is_array()) return fail(wants("a list"));
  std::vector<JsonField> fields;
  fields.reserve(value_->size());
  for (const Json& item : *value_) fields.push_back(child(fields.size(), item));
  return fields;
}

Result<std::vector<std::pair<std::string, JsonField>>> JsonField::members() const {
  ASSAY_TRY(expect_object());
  std::vector<std::pair<std::string, JsonField>> fields;
  for (const auto& [key, value] : value_->get_ref<const Json::object_t&>()) {
    fields.emplace_back(key, child(key, value));
  }
  return fields;
}

Status JsonField::only_keys(std::span<const std::string_view> known) const {
  ASSAY_TRY(expect_object());
  for (const auto& [key, value] : value_->get_ref<const Json::object_t&>()) {
    if (std::find(known.begin(), known.end(), key) != known.end()) continue;
    return fail(child(key, value)
                    .error(ErrorCode::invalid_input,
                           fmt::format("unknown key{}", did_you_mean(key, known))));
  }
  return {};
}

}  // namespace assay
