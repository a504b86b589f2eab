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

#include <fmt/format.h>

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
    json_[key] = archive::write_any(value);
  }
  template <class T>
  void required(const char* key, const T& value, archive::Range = archive::kAny) {
    json_[key] = archive::write_any(value);
  }
  Json take() { return std::move(json_); }

 protected:
  Json json_ = Json::object();
};

// Writes an empty list for the one that holds `Left`: it is written elsewhere, item by item.
template <class Left>
class HeadWriter : public RecordWriter {
 public:
  template <class T>
  void operator()(const char* key, const T& value, archive::Range range = archive::kAny) {
    if constexpr (std::same_as<T, std::vector<Left>>)
      json_[key] = Json::array();
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
    if (!status_) return;
    const std::optional<JsonField> found = field_.find(key);
    if (found && !found->is_null()) status_ = archive::read_any(*found, value, range);
  }
  template <class T>
  void required(const char* key, T& value, archive::Range range = archive::kAny) {
    if (!status_) return;
    if (fields_ == archive::Fields::exactly) named_.push_back(key);
    const Result<JsonField> found = field_.at(key);
    status_ =
        found ? archive::read_any(*found, value, range, fields_) : Status(fail(found.error()));
  }
  // Once all fields were named.
  Status status() const {
    // Each that was named is there: so many are there, or there are unknown ones.
    if (!status_ || fields_ == archive::Fields::some || field_.json().size() == named_.size())
      return status_;
    return field_.only_keys(named_);
  }

 private:
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
  std::int64_t low = kLowest, high = kHighest;
  if (range.min > static_cast<double>(low)) low = static_cast<std::int64_t>(range.min);
  if (range.min > 0 && range.min < 1) low = 1;
  if (range.max < static_cast<double>(high)) high = static_cast<std::int64_t>(range.max);
  ASSAY_TRY(const std::int64_t value, field.as_int64(low, high));
  return static_cast<T>(value);
}

// An error where a list, or a text, is longer than it may be.
inline Status check_size(const JsonField& field, std::size_t size, const Range& range,
                         std::string_view what) {
  if (size <= range.most) return {};
  return fail(field.error(ErrorCode::invalid_input,
                          fmt::format("may have {} {}, but has {}", range.most, what, size)));
}

template <class T>
Status read_any(const JsonField& field, T& value, Range range, Fields fields) {
  if constexpr (HasRead<T>) {
    return read_value(field, value);
  } else if constexpr (std::same_as<T, bool>) {
    ASSAY_TRY(value, field.as_bool());
  } else if constexpr (std::is_integral_v<T>) {
    ASSAY_TRY(value, read_integer<T>(field, range));
  } else if constexpr (std::is_floating_point_v<T>) {
    ASSAY_TRY(value, field.as_double(range.min, range.max));
  } else if constexpr (std::same_as<T, std::string>) {
    ASSAY_TRY(value, field.as_string());
    ASSAY_TRY(check_size(field, value.size(), range, "bytes"));
  } else if constexpr (std::same_as<T, Json>) {
    value = field.json();
  } else if constexpr (is_vector<T>::value) {
    if (field.json().is_array()) ASSAY_TRY(check_size(field, field.json().size(), range, "items"));
    ASSAY_TRY(const std::vector<JsonField> items, field.items());
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
    ASSAY_TRY(const auto members, field.members());
    ASSAY_TRY(check_size(field, members.size(), range, "members"));
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
