#include "assay/input/yaml.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>

#include "assay/base/file.h"
#include "assay/base/text.h"
#include "assay/input/yaml_tree.h"

namespace assay::input {
namespace {

// A file's text may be shown in a terminal: only a short, harmless piece of it.
std::string shown(std::string_view text) { return fmt::format("'{}'", sanitize(text, 40)); }

enum class Written : uint8_t { boolean, integer, number, text };

bool digits(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

Written classify(std::string_view text) {
  if (text == "true" || text == "false") return Written::boolean;
  std::string_view unsigned_text = text;
  if (!text.empty() && (text[0] == '-' || text[0] == '+')) unsigned_text.remove_prefix(1);
  if (digits(unsigned_text)) return Written::integer;
  // What begins like a number and holds nothing but a number's characters is meant as one.
  if (unsigned_text.empty() ||
      !(std::isdigit(static_cast<unsigned char>(unsigned_text[0])) || unsigned_text[0] == '.')) {
    return Written::text;
  }
  double value = 0;
  const char* end = unsigned_text.data() + unsigned_text.size();
  const auto [stop, code] = std::from_chars(unsigned_text.data(), end, value);
  return stop == end && code != std::errc::invalid_argument ? Written::number : Written::text;
}

}  // namespace

YamlField::YamlField(std::shared_ptr<const Tree> tree, uint32_t node, std::string path)
    : tree_(std::move(tree)), node_(node), path_(std::move(path)) {}

YamlField::Kind YamlField::kind() const { return tree_->nodes[node_].kind; }
int YamlField::line() const { return tree_->nodes[node_].line; }
int YamlField::column() const { return tree_->nodes[node_].column; }
const std::string& YamlField::origin() const { return tree_->origin; }

Error YamlField::error(std::string_view sentence, ErrorCode code) const {
  return {code, fmt::format("{}:{}:{}: {}{}{}", origin(), line(), column(), path_,
                            path_.empty() ? "" : ": ", sentence)};
}

Error YamlField::wants(std::string_view what) const {
  const YamlNode& node = tree_->nodes[node_];
  switch (node.kind) {
    case Kind::null:
      return error(fmt::format("has no value; write {}", what));
    case Kind::list:
      return error(fmt::format("is a list; write {}", what));
    case Kind::map:
      return error(fmt::format("is a map; write {}", what));
    case Kind::scalar:
      break;
  }
  return error(fmt::format("{}{} is not what belongs here; write {}", shown(node.text),
                           node.plain ? "" : " (text in quotes)", what));
}

YamlField YamlField::member(size_t index) const {
  const YamlNode& node = tree_->nodes[node_];
  const std::string key = sanitize(node.keys[index].text, 60);
  return {tree_, node.children[index], path_.empty() ? key : path_ + "." + key};
}

Result<std::optional<YamlField>> YamlField::find(std::string_view key) const {
  const YamlNode& node = tree_->nodes[node_];
  if (node.kind != Kind::map) return fail(wants("a map: fields with their values"));
  for (size_t i = 0; i < node.keys.size(); ++i) {
    if (node.keys[i].text != key) continue;
    YamlField found = member(i);
    if (found.kind() == Kind::null) {
      return fail(found.error("has no value; write one, or leave the field out"));
    }
    return std::optional(std::move(found));
  }
  return std::optional<YamlField>();
}

Result<YamlField> YamlField::at(std::string_view key) const {
  ASSAY_TRY(std::optional<YamlField> found, find(key));
  if (found) return std::move(*found);
  std::vector<std::string> present;
  for (const YamlKey& other : tree_->nodes[node_].keys) present.push_back(other.text);
  const std::string similar = nearest(key, present);
  return fail(error(
      fmt::format("has no field '{}', which is needed{}", key,
                  similar.empty() ? "" : "; was '" + sanitize(similar, 40) + "' meant to be it?")));
}

Result<std::vector<std::pair<std::string, YamlField>>> YamlField::members() const {
  const YamlNode& node = tree_->nodes[node_];
  if (node.kind != Kind::map) return fail(wants("a map: fields with their values"));
  std::vector<std::pair<std::string, YamlField>> members;
  members.reserve(node.keys.size());
  for (size_t i = 0; i < node.keys.size(); ++i) members.emplace_back(node.keys[i].text, member(i));
  return members;
}

Status YamlField::only(std::span<const std::string> known) const {
  const YamlNode& node = tree_->nodes[node_];
  if (node.kind != Kind::map) return fail(wants("a map: fields with their values"));
  for (const YamlKey& key : node.keys) {
    if (std::find(known.begin(), known.end(), key.text) != known.end()) continue;
    const std::string similar = nearest(key.text, known);
    const std::string remedy =
        similar.empty() ? "known are " + join(known, ", ") : "did you mean '" + similar + "'?";
    return fail(ErrorCode::invalid_input, "{}:{}:{}: {}{}there is no field {}; {}", origin(),
                key.line, key.column, path_, path_.empty() ? "" : ": ", shown(key.text), remedy);
  }
  return {};
}

Result<std::vector<YamlField>> YamlField::items() const {
  const YamlNode& node = tree_->nodes[node_];
  if (node.kind != Kind::list) return fail(wants("a list: [first, second]"));
  std::vector<YamlField> items;
  items.reserve(node.children.size());
  for (size_t i = 0; i < node.children.size(); ++i) {
    items.push_back({tree_, node.children[i], fmt::format("{}[{}]", path_, i)});
  }
  return items;
}

Result<std::string_view> YamlField::plain(std::string_view what) const {
  const YamlNode& node = tree_->nodes[node_];
  if (node.kind != Kind::scalar) return fail(wants(what));
  if (!node.plain) {
    return fail(
        error(fmt::format("{} stands in quotes and is text; write {}", shown(node.text), what)));
  }
  return std::string_view(node.text);
}

Result<std::string> YamlField::as_string() const {
  const YamlNode& node = tree_->nodes[node_];
  if (node.kind != Kind::scalar) return fail(wants("text"));
  if (node.plain && classify(node.text) != Written::text) {
    return fail(error(
        fmt::format("{} is {}, not text; put it in quotes if it is meant as text", shown(node.text),
                    classify(node.text) == Written::boolean ? "a truth value" : "a number")));
  }
  return node.text;
}

Result<bool> YamlField::as_bool() const {
  ASSAY_TRY(const std::string_view text, plain("true or false"));
  if (text == "true") return true;
  if (text == "false") return false;
  return fail(wants("true or false"));
}

Result<int64_t> YamlField::as_int64(int64_t min, int64_t max) const {
  const bool bounded =
      min != std::numeric_limits<int64_t>::min() || max != std::numeric_limits<int64_t>::max();
  const std::string what = !bounded ? std::string("an integer")
                           : max == std::numeric_limits<int64_t>::max()
                               ? fmt::format("an integer that is at least {}", min)
                               : fmt::format("an integer from {} to {}", min, max);
  ASSAY_TRY(std::string_view text, plain(what));
  const std::string_view unsigned_text = text.starts_with('-') ? text.substr(1) : text;
  if (!digits(unsigned_text)) return fail(wants(what));
  if (unsigned_text.size() > 1 && unsigned_text[0] == '0') {
    return fail(error(
        fmt::format("{} begins with 0, which some read as octal; write it without", shown(text))));
  }
  int64_t value = 0;
  const auto [stop, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code == std::errc::result_out_of_range) {
    return fail(error(fmt::format("{} does not fit into 64 bits; write {}", shown(text), what)));
  }
  if (value < min || value > max) {
    return fail(error(fmt::format("{} is out of range; write {}", value, what)));
  }
  return value;
}

Result<double> YamlField::as_double(double min, double max) const {
  const bool bounded =
      min != std::numeric_limits<double>::lowest() || max != std::numeric_limits<double>::max();
  const std::string what = bounded ? fmt::format("a number from {} to {}", min, max) : "a number";
  ASSAY_TRY(const std::string_view text, plain(what));
  const Written written = classify(text);
  if (written != Written::integer && written != Written::number) return fail(wants(what));
  double value = 0;
  const std::string_view number = text.starts_with('+') ? text.substr(1) : text;
  const auto [stop, code] = std::from_chars(number.data(), number.data() + number.size(), value);
  if (code == std::errc::result_out_of_range || !std::isfinite(value)) {
    return fail(error(fmt::format("{} does not fit into a double; write {}", shown(text), what)));
  }
  if (value < min || value > max) {
    return fail(error(fmt::format("{} is out of range; write {}", shown(text), what)));
  }
  return value;
}

Result<Value> YamlField::as_value() const {
  const YamlNode& node = tree_->nodes[node_];
  if (node.kind != Kind::scalar) return fail(wants("an integer, a number, true, false or text"));
  switch (node.plain ? classify(node.text) : Written::text) {
    case Written::boolean:
      return Value(node.text == "true");
    case Written::integer: {
      ASSAY_TRY(const int64_t integer, as_int64());
      return Value(integer);
    }
    case Written::number: {
      ASSAY_TRY(const double number, as_double());
      return Value(number);
    }
    case Written::text:
      break;
  }
  return Value(node.text);
}

Result<std::vector<std::string>> YamlField::as_strings() const {
  std::vector<std::string> strings;
  if (kind() == Kind::scalar) {
    ASSAY_TRY(strings.emplace_back(), as_string());
    return strings;
  }
  if (kind() != Kind::list) return fail(wants("a list of texts: [first, second]"));
  ASSAY_TRY(const std::vector<YamlField> fields, items());
  for (const YamlField& field : fields) {
    ASSAY_TRY(strings.emplace_back(), field.as_string());
  }
  return strings;
}

Result<YamlField> read_yaml(const std::filesystem::path& path, const YamlLimits& limits) {
  ASSAY_TRY(const std::string text, read_file(path.string(), limits.bytes));
  return parse_yaml(text, path.string(), limits);
}

}  // namespace assay::input
