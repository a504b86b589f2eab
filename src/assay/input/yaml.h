#pragma once

// A cursor over a user's YAML that knows where every value stands, so that whatever is wrong can be
// said as "file:line:column: field: what is wrong and what would be right".
//
// The parser behind it is strict where YAML is generous: one document, no duplicate keys, no tags,
// no merge keys, no tabs as indentation, valid UTF-8 only. Hostile files are bounded by Limits.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "assay/base/expression.h"
#include "assay/base/result.h"

namespace assay::input {

struct YamlLimits {
  size_t bytes = size_t{16} << 20;  // A suite of 100,000 shapes takes about 10 MB.
  size_t nodes = 1'500'000;         // Counted with aliases expanded.
  int depth = 32;                   // Our deepest file needs six.
};

class YamlField {
 public:
  enum class Kind : uint8_t { null, scalar, list, map };

  Kind kind() const;
  int line() const;    // From 1; of a value left empty, its key's.
  int column() const;  // From 1, in bytes.
  const std::string& origin() const;
  const std::string& path() const { return path_; }  // "shapes[3].m"; empty for the whole file.

  // "file:line:column: field: sentence".
  Error error(std::string_view sentence, ErrorCode code = ErrorCode::invalid_input) const;

  // Maps, in the file's order. An absent key is an error for at() and null for find(). A value left
  // empty ("m:") is never meant and an error for both; so is asking what is not a map.
  Result<YamlField> at(std::string_view key) const;
  Result<std::optional<YamlField>> find(std::string_view key) const;
  Result<std::vector<std::pair<std::string, YamlField>>> members() const;

  // An error on the first key that is not among `known`, naming the nearest.
  Status only(std::span<const std::string> known) const;

  // Lists.
  Result<std::vector<YamlField>> items() const;

  // Scalars, strictly: 64 is an integer, "64" is text, 6e1 is a number, yes is text.
  Result<std::string> as_string() const;
  Result<bool> as_bool() const;
  Result<int64_t> as_int64(int64_t min = std::numeric_limits<int64_t>::min(),
                           int64_t max = std::numeric_limits<int64_t>::max()) const;
  Result<double> as_double(double min = std::numeric_limits<double>::lowest(),
                           double max = std::numeric_limits<double>::max()) const;  // Finite.
  Result<Value> as_value() const;  // Whichever of the four it is written as.
  Result<std::vector<std::string>> as_strings()
      const;  // A list of texts; one text is a list of one.

 private:
  struct Tree;
  friend class YamlBuilder;
  friend Result<YamlField> parse_yaml(std::string_view, std::string_view, const YamlLimits&);
  YamlField(std::shared_ptr<const Tree> tree, uint32_t node, std::string path);
  YamlField member(size_t index) const;
  Error wants(std::string_view what) const;
  Result<std::string_view> plain(std::string_view what) const;

  std::shared_ptr<const Tree> tree_;
  uint32_t node_ = 0;
  std::string path_;
};

// origin: the file's name as the user wrote it, for errors.
Result<YamlField> parse_yaml(std::string_view text, std::string_view origin,
                             const YamlLimits& limits = {});

// Regular files only; a file that is absent is ErrorCode::not_found.
Result<YamlField> read_yaml(const std::filesystem::path& path, const YamlLimits& limits = {});

}  // namespace assay::input
