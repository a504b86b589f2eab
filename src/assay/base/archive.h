#pragma once

// One description of a struct's fields serves its writer and its reader: describe(archive, value)
// names each field once. For records, and for messages between our processes.

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "assay/base/json.h"

namespace assay {

// In this namespace, so that a call finds the describe() and write_value() of types elsewhere.
class RecordWriter;
class RecordReader;
struct RecordTag {};

namespace archive {

// T is U or const U: describe() is written once for both directions.
template <class T, class U>
concept Is = std::same_as<std::remove_const_t<T>, U>;

// Inclusive bounds of a number, or of each number in a list; and the most that a list may hold, or
// a text in bytes.
struct Range {
  double min = -std::numeric_limits<double>::infinity();
  double max = std::numeric_limits<double>::infinity();
  std::size_t most = std::numeric_limits<std::size_t>::max();
};
constexpr Range at_most(std::size_t most) { return {.most = most}; }

// Which fields an object must have. Of a record, which an older or a newer program may have
// written, some: what is absent or null keeps its default, and what is unknown is left alone. Of a
// message between processes of one program exactly those that its description names, and null
// alone where a value is optional.
enum class Fields : std::uint8_t { some, exactly };

inline constexpr Range kAny{};
inline constexpr Range kNotNegative{0, std::numeric_limits<double>::infinity()};
inline constexpr Range kPositive{std::numeric_limits<double>::min(),
                                 std::numeric_limits<double>::infinity()};

template <class T>
struct is_vector : std::false_type {};
template <class T>
struct is_vector<std::vector<T>> : std::true_type {};
template <class T>
struct is_optional : std::false_type {};
template <class T>
struct is_optional<std::optional<T>> : std::true_type {};
template <class T>
struct is_map : std::false_type {};
template <class T>
struct is_map<std::map<std::string, T>> : std::true_type {};

// A struct that describe() does not fit has write_value and read_value overloads of its own.
template <class T>
Json write_any(const T& value);
template <class T>
Status read_any(const JsonField& field, T& value, Range range = kAny, Fields fields = Fields::some);

}  // namespace archive

class RecordWriter {
 public:
  template <class T>
  void operator()(const char* key, const T& value, archive::Range = archive::kAny) {
    set(key, archive::write_any(value));
  }
  template <class T>
  void required(const char* key, const T& value, archive::Range = archive::kAny) {
    set(key, archive::write_any(value));
  }
  Json take() { return std::move(json_); }

 protected:
  void set(const char* key, Json value);

 private:
  Json json_ = Json::object();
};

// Writes an empty list for the one that holds `Left`: it is written elsewhere, item by item.
template <class Left>
class HeadWriter : public RecordWriter {
 public:
  template <class T>
  void operator()(const char* key, const T& value, archive::Range range = archive::kAny) {
    if constexpr (std::same_as<T, std::vector<Left>>)
      set(key, Json::array());
    else
      RecordWriter::operator()(key, value, range);
  }
  template <class T>
  void required(const char* key, const T& value, archive::Range range = archive::kAny) {
    (*this)(key, value, range);
  }
};

// Reads fields until the first error. Absent and null fields keep their defaults unless required,
// or unless the object must have exactly what is named.
class RecordReader {
 public:
  explicit RecordReader(const JsonField& field, archive::Fields fields = archive::Fields::some)
      : field_(field), fields_(fields), status_(field.expect_object()) {}

  template <class T>
  void operator()(const char* key, T& value, archive::Range range = archive::kAny) {
    if (fields_ == archive::Fields::exactly) return required(key, value, range);
    if (const std::optional<JsonField> found = find(key))
      status_ = archive::read_any(*found, value, range);
  }
  template <class T>
  void required(const char* key, T& value, archive::Range range = archive::kAny) {
    if (const std::optional<JsonField> found = at(key))
      status_ = archive::read_any(*found, value, range, fields_);
  }
  // Once all fields were named.
  Status status() const;

 private:
  // Nothing after an error. Of find(): what is absent or null, too; of at(): it is an error.
  std::optional<JsonField> find(const char* key) const;
  std::optional<JsonField> at(const char* key);

  const JsonField& field_;
  archive::Fields fields_;
  std::vector<std::string_view> named_;
  Status status_;
};

namespace archive {

template <class T>
concept HasWrite = requires(const T& value) {
  write_value(value, RecordTag{});
};

template <class T>
Json write_any(const T& value) {
  if constexpr (HasWrite<T>) {
    return write_value(value, RecordTag{});
  } else if constexpr (std::is_enum_v<T>) {
    return std::string(to_string(value));
  } else if constexpr (std::is_arithmetic_v<T> || std::same_as<T, std::string> ||
                       std::same_as<T, Json>) {
    return Json(value);
  } else if constexpr (is_vector<T>::value) {
    Json list = Json::array();
    for (const auto& item : value) list.push_back(write_any(item));
    return list;
  } else if constexpr (is_optional<T>::value) {
    return value ? write_any(*value) : Json(nullptr);
  } else if constexpr (is_map<T>::value) {
    Json object = Json::object();
    for (const auto& [key, item] : value) object[key] = write_any(item);
    return object;
  } else {
    RecordWriter writer;
    describe(writer, value);
    return writer.take();
  }
}

template <class T>
concept HasRead = requires(const JsonField& field, T& value) {
  read_value(field, value);
};

// What is no template is compiled once, in archive.cc: there are a thousand fields.
Status read_bool(const JsonField& field, bool& value);
Status read_number(const JsonField& field, double& value, const Range& range);
Status read_text(const JsonField& field, std::string& value, const Range& range);
// Within the range and from `lowest` to `highest`.
Result<std::int64_t> read_whole(const JsonField& field, const Range& range, std::int64_t lowest,
                                std::int64_t highest);
// An error if there are more than the range allows.
Result<std::vector<JsonField>> read_items(const JsonField& field, const Range& range);
Result<std::vector<std::pair<std::string, JsonField>>> read_members(const JsonField& field,
                                                                    const Range& range);

// Integers are bounded by their own type as well as by the range.
template <class T>
Result<T> read_integer(const JsonField& field, Range range) {
  if constexpr (std::is_unsigned_v<T> && sizeof(T) == 8) {
    // Seeds and addresses use all of their bits.
    if (field.json().is_number_unsigned() && range.min <= 0 &&
        range.max == std::numeric_limits<double>::infinity())
      return field.json().template get<T>();
  }
  constexpr std::int64_t kLowest = std::is_signed_v<T> ? std::numeric_limits<T>::min() : 0;
  constexpr std::int64_t kHighest = sizeof(T) == 8
                                        ? std::numeric_limits<std::int64_t>::max()
                                        : static_cast<std::int64_t>(std::numeric_limits<T>::max());
  ASSAY_TRY(const std::int64_t value, read_whole(field, range, kLowest, kHighest));
  return static_cast<T>(value);
}

template <class T>
Status read_any(const JsonField& field, T& value, Range range, Fields fields) {
  if constexpr (HasRead<T>) {
    return read_value(field, value);
  } else if constexpr (std::same_as<T, bool>) {
    return read_bool(field, value);
  } else if constexpr (std::is_integral_v<T>) {
    ASSAY_TRY(value, read_integer<T>(field, range));
  } else if constexpr (std::is_floating_point_v<T>) {
    double number = 0;
    ASSAY_TRY(read_number(field, number, range));
    value = static_cast<T>(number);
  } else if constexpr (std::same_as<T, std::string>) {
    return read_text(field, value, range);
  } else if constexpr (std::same_as<T, Json>) {
    value = field.json();
  } else if constexpr (is_vector<T>::value) {
    ASSAY_TRY(const std::vector<JsonField> items, read_items(field, range));
    value.clear();
    value.reserve(items.size());
    for (const JsonField& item : items) {
      typename T::value_type one{};
      ASSAY_TRY(read_any(item, one, range, fields));
      value.push_back(std::move(one));
    }
  } else if constexpr (is_optional<T>::value) {
    if (field.is_null()) {
      value.reset();
      return {};
    }
    value.emplace();
    ASSAY_TRY(read_any(field, *value, range, fields));
  } else if constexpr (is_map<T>::value) {
    ASSAY_TRY(const auto members, read_members(field, range));
    value.clear();
    for (const auto& [key, member] : members) {
      ASSAY_TRY(read_any(member, value[key], range, fields));
    }
  } else {
    RecordReader reader(field, fields);
    describe(reader, value);
    return reader.status();
  }
  return {};
}

}  // namespace archive
}  // namespace assay
