#pragma once

// The JSON Schema (draft 2020-12) of what describe() describes: the fields that a RecordReader
// takes, from the same description. For the handbook.

#include <limits>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "assay/base/archive.h"

namespace assay {

// Types that have a read_value and no describe() say what that takes, in a function
// `Json schema_value(SchemaOf<T>, SchemaTypes&)` beside it.
template <class T>
struct SchemaOf {};

// What "$defs" holds: structs by their names.
class SchemaTypes {
 public:
  bool contains(const std::string& name) const { return types_.contains(name); }
  void set(const std::string& name, Json schema) { types_[name] = std::move(schema); }
  const Json& all() const { return types_; }

 private:
  Json types_ = Json::object();
};

// One of these texts.
template <class Texts>
Json words_schema(const Texts& texts) {
  Json words = Json::array();
  for (const auto& text : texts) words.push_back(std::string(text));
  return {{"type", "string"}, {"enum", std::move(words)}};
}

// Of an enum whose words `parse` knows: those that it reads back as what they stand for.
// to_string() must take any value.
template <class E, class Parse>
Json enum_schema(Parse parse) {
  constexpr int kMost = 64;  // More than any enum of ours has.
  std::vector<std::string> words;
  for (int i = 0; i < kMost; ++i) {
    const std::string text(to_string(static_cast<E>(i)));
    if (const auto value = parse(text); value && *value == static_cast<E>(i)) words.push_back(text);
  }
  return words_schema(words);
}

namespace archive {

template <class T>
Json schema_of(SchemaTypes& types, Range range = kAny);

}  // namespace archive

class SchemaWriter {
 public:
  explicit SchemaWriter(SchemaTypes& types) : types_(types) {}

  template <class T>
  void operator()(const char* key, T&, archive::Range range = archive::kAny) {
    add(key, archive::schema_of<T>(types_, range));
  }
  template <class T>
  void required(const char* key, T&, archive::Range range = archive::kAny) {
    add_required(key, archive::schema_of<T>(types_, range));
  }
  // Unknown fields are left alone, as a RecordReader does.
  Json take();

 private:
  // Null counts as absent.
  void add(const char* key, Json schema);
  void add_required(const char* key, Json schema);

  SchemaTypes& types_;
  Json properties_ = Json::object(), required_ = Json::array();
};

namespace archive {

template <class T>
concept HasSchema = requires(SchemaTypes& types) {
  schema_value(SchemaOf<T>{}, types);
};
template <class T>
concept Described = requires(SchemaWriter& writer, T& value) {
  describe(writer, value);
};

// "assay::Conclusion::Time" as "Conclusion.Time", out of "... [with T = assay::Conclusion::Time]".
std::string name_in_signature(std::string_view function);
template <class T>
std::string schema_name() {
  return name_in_signature(__PRETTY_FUNCTION__);
}

// The object itself.
template <Described T>
Json object_schema(SchemaTypes& types) {
  SchemaWriter writer(types);
  T value{};
  describe(writer, value);
  return writer.take();
}

// What is no template is compiled once, in archive_schema.cc.
Json bool_schema();
Json number_schema(const Range& range);
// Within the range and from `lowest` to `highest`.
Json integer_schema(const Range& range, double lowest, double highest);
Json text_schema(const Range& range);
Json list_schema(Json items, const Range& range);
Json map_schema(Json items);
Json or_null(Json schema);
Json reference_schema(const std::string& name);

template <class T>
Json schema_of(SchemaTypes& types, Range range) {
  if constexpr (HasSchema<T>) {
    Json schema = schema_value(SchemaOf<T>{}, types);
    if (!schema.contains("properties")) return schema;
    types.set(schema_name<T>(), std::move(schema));
    return reference_schema(schema_name<T>());
  } else if constexpr (Described<T>) {
    const std::string name = schema_name<T>();
    if (!types.contains(name)) {
      types.set(name, true);  // One that holds others of its kind.
      types.set(name, object_schema<T>(types));
    }
    return reference_schema(name);
  } else if constexpr (std::same_as<T, bool>) {
    return bool_schema();
  } else if constexpr (std::is_integral_v<T>) {
    return integer_schema(
        range, std::is_signed_v<T> ? static_cast<double>(std::numeric_limits<T>::min()) : 0,
        static_cast<double>(std::numeric_limits<T>::max()));
  } else if constexpr (std::is_floating_point_v<T>) {
    return number_schema(range);
  } else if constexpr (std::same_as<T, std::string>) {
    return text_schema(range);
  } else if constexpr (std::same_as<T, Json>) {
    return Json::object();
  } else if constexpr (is_vector<T>::value) {
    return list_schema(schema_of<typename T::value_type>(types, range), range);
  } else if constexpr (is_optional<T>::value) {
    return or_null(schema_of<typename T::value_type>(types, range));
  } else {
    static_assert(is_map<T>::value, "write a schema_value() for this type");
    return map_schema(schema_of<typename T::mapped_type>(types, range));
  }
}

}  // namespace archive

// A file's schema, with what it is and what its definitions are.
Json with_head(std::string_view title, Json schema, const SchemaTypes& types = {});

// The whole schema of a file: what it is, and the word of its field "schema".
template <class T>
Json file_schema(std::string_view title, Json schema_field) {
  SchemaTypes types;
  Json schema = archive::object_schema<T>(types);
  schema["properties"]["schema"] = std::move(schema_field);
  schema["required"].push_back("schema");
  return with_head(title, std::move(schema), types);
}

}  // namespace assay
