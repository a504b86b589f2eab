#pragma once

// JSON for hostile input: what nlohmann accepts in silence (a key given twice, an integer that
// turns into a double, a megabyte of '[') is an error here, with its line.

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "assay/base/json_fwd.h"
#include "assay/base/result.h"

namespace assay {

inline constexpr int kMaxJsonDepth = 64;                    // Containers inside one another.
inline constexpr std::size_t kMaxJsonBytes = 256ull << 20;  // Longer texts are refused unread.
inline constexpr std::size_t kMaxJsonValues = 8'000'000;    // A value costs up to 60 bytes.

// The value of `text`. `origin` names the text in errors: "origin:line:column: what is wrong".
// Errors (invalid_input): syntax, a key twice in one object, NaN or Infinity, numbers beyond double
// or (when written as integers) beyond 64 bits, nesting beyond kMaxJsonDepth, invalid UTF-8,
// anything after the value. Comments are not JSON. Out of memory is ErrorCode::machine.
Result<Json> parse_json(std::string_view text, std::string_view origin);

// A value that remembers where each of its parts was written.
class JsonDocument {
 public:
  Json root;
  std::string origin;  // The file's name, or another name for the text, as errors print it.

  // 1-based line of the value at `pointer` (RFC 6901; "" is the root); that of its nearest known
  // ancestor if there is no such value.
  int line_of(std::string_view pointer) const;

 private:
  friend class JsonField;
  friend Result<JsonDocument> parse_json_document(std::string_view text, std::string_view origin);
  static std::uint64_t root_key();
  static std::uint64_t child_key(std::uint64_t parent, std::string_view token);
  int line_of_key(std::uint64_t key, int otherwise) const;

  // Keyed by a hash chained over the path's tokens: 16 bytes a value instead of a string. A
  // collision could only misprint a line number.
  std::unordered_map<std::uint64_t, int> lines_;
};

Result<JsonDocument> parse_json_document(std::string_view text, std::string_view origin);

// A cursor over a document, for reading what users wrote with errors that they can act on:
// "file:line: field.path: what is wrong and what would be right". It points into the document,
// which must outlive it and stay where it is. Every error is ErrorCode::invalid_input.
class JsonField {
 public:
  explicit JsonField(const JsonDocument& document);

  // The member `key`, which must be there; an error names the nearest key that is.
  Result<JsonField> at(std::string_view key) const;
  // The member `key` if this is an object and has it (it may be null). Use expect_object() first
  // where something that is no object must not pass for an empty one.
  std::optional<JsonField> find(std::string_view key) const;

  Result<std::string> as_string() const;
  Result<bool> as_bool() const;
  // Integers only: 3.0 and "3" are errors. Bounds are inclusive.
  Result<std::int64_t> as_int64(std::int64_t min = std::numeric_limits<std::int64_t>::min(),
                                std::int64_t max = std::numeric_limits<std::int64_t>::max()) const;
  // Any number, always finite. Bounds are inclusive.
  Result<double> as_double(double min = -std::numeric_limits<double>::infinity(),
                           double max = std::numeric_limits<double>::infinity()) const;

  Result<std::vector<JsonField>> items() const;                            // Of an array.
  Result<std::vector<std::pair<std::string, JsonField>>> members() const;  // Of an object, sorted.

  Status expect_object() const;
  // An error for the first member whose key is not in `known`, with the nearest known key.
  Status only_keys(std::span<const std::string_view> known) const;
  Status only_keys(std::initializer_list<std::string_view> known) const {
    return only_keys(std::span<const std::string_view>(known.begin(), known.size()));
  }

  bool is_null() const { return value_->is_null(); }
  const Json& json() const { return *value_; }
  const std::string& path() const { return path_; }  // "results[3].name"; empty for the root.
  int line() const;

  // `sentence` with this field's "file:line: field: " in front.
  Error error(ErrorCode code, std::string_view sentence) const;

 private:
  JsonField(const JsonDocument* document, const Json* value, std::string path, std::uint64_t key,
            int parent_line);
  JsonField child(const std::string& key, const Json& value) const;
  JsonField child(std::size_t index, const Json& value) const;
  Error wants(std::string_view what) const;

  const JsonDocument* document_;
  const Json* value_;
  std::string path_;
  std::uint64_t key_;
  int line_;
};

// One line, sorted keys, numbers that read back exactly: the form that is hashed. Non-finite
// doubles become null, invalid UTF-8 becomes U+FFFD.
std::string canonical(const Json& value);

// For people: indented by two, a newline at the end, and nothing that a terminal would obey.
std::string dump_pretty(const Json& value);

}  // namespace assay
