// yaml-cpp's events made into a tree. Nothing of yaml-cpp leaves this file.

#include <algorithm>
#include <array>
#include <exception>
#include <istream>
#include <streambuf>
#include <unordered_map>
#include <unordered_set>

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/mark.h>
#include <yaml-cpp/parser.h>

#include "assay/base/text.h"
#include "assay/input/yaml_tree.h"

namespace assay::input {
namespace {

// Leaves the parser by way of its own exceptions' path; caught in parse_yaml.
struct Stop {
  int line, column;
  std::string sentence;
};

// Reads from a borrowed text without copying it.
class TextBuffer : public std::streambuf {
 public:
  explicit TextBuffer(std::string_view text) {
    char* begin = const_cast<char*>(text.data());  // Only read: there is no put area.
    setg(begin, begin, begin + text.size());
  }
};

// Length of the valid UTF-8 sequence at the front of text; 0 if there is none.
size_t utf8_length(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  if (first < 0x80) return 1;
  const size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || text.size() < length) return 0;
  uint32_t code = first & (0xff >> (length + 1));
  for (size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
    code = code << 6 | (byte(i) & 0x3f);
  }
  constexpr std::array<uint32_t, 5> kSmallest = {0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = code >= 0xd800 && code < 0xe000;
  return code < kSmallest[length] || code > 0x10ffff || surrogate ? 0 : length;
}

// What YAML allows or the parser lets pass, and nobody means. Throws Stop.
void check_characters(std::string_view text) {
  int line = 1, column = 1;
  bool indenting = true;
  for (size_t i = 0; i < text.size();) {
    const char character = text[i];
    if (character == '\n') {
      ++line, column = 1, indenting = true, ++i;
      continue;
    }
    const size_t length = utf8_length(text.substr(i));
    if (character == '\0') {
      throw Stop{line, column, "a NUL byte: this is not a text file; write YAML as plain text"};
    }
    if (length == 0) {
      throw Stop{line, column,
                 fmt::format("byte 0x{:02x} is not valid UTF-8; save the file as UTF-8",
                             static_cast<unsigned char>(character))};
    }
    if (character == '\t' && indenting) {
      throw Stop{line, column, "a tab stands in the indentation; use spaces"};
    }
    const bool line_end = character == '\r' && i + 1 < text.size() && text[i + 1] == '\n';
    if (static_cast<unsigned char>(character) < 0x20 && character != '\t' && !line_end) {
      throw Stop{line, column,
                 fmt::format("control character 0x{:02x}; remove it",
                             static_cast<unsigned char>(character))};
    }
    if (character != ' ') indenting = false;
    i += length;
    column += static_cast<int>(length);
  }
}

// The parser lets a quote run to the file's end, so whether each is closed is seen here.
class QuoteChecker {
 public:
  explicit QuoteChecker(std::string_view text) : text_(text), starts_{0} {
    for (size_t i = 0; i < text.size(); ++i) {
      if (text[i] == '\n') starts_.push_back(i + 1);
    }
  }

  // Whether the scalar at this place (from 0), if it is in quotes, has its second one.
  bool closed(int line, int column) const {
    if (line < 0 || line >= std::ssize(starts_)) return true;
    size_t i = starts_[static_cast<size_t>(line)] + static_cast<size_t>(std::max(column, 0));
    while (i < text_.size() && (text_[i] == '&' || text_[i] == '!')) {
      i = text_.find_first_of(kBlanks, i);
      i = text_.find_first_not_of(kBlanks, std::min(i, text_.size()));
    }
    if (i >= text_.size()) return true;
    const char quote = text_[i];
    if (quote != '"' && quote != '\'') return true;
    for (++i; i < text_.size(); ++i) {
      if (quote == '"' && text_[i] == '\\') {
        ++i;
      } else if (text_[i] == quote) {
        const bool doubled = quote == '\'' && i + 1 < text_.size() && text_[i + 1] == quote;
        if (!doubled) return true;
        ++i;
      }
    }
    return false;
  }

 private:
  static constexpr std::string_view kBlanks = " \t\r\n";
  std::string_view text_;
  std::vector<size_t> starts_;
};

// The parser's own words are terse; the commonest get a remedy.
std::string explain(const std::string& message) {
  struct Remedy {
    std::string_view part, remedy;
  };
  static constexpr Remedy kRemedies[] = {
      {"end of map flow", "add the missing '}' or ','"},
      {"end of sequence flow", "add the missing ']' or ','"},
      {"end of map not found", "fields of one map must begin in the same column"},
      {"end of sequence not found", "items of one list must begin in the same column"},
      {"illegal map value", "text that holds ': ' must stand in quotes"},
      {"illegal flow end", "there is a ']' or '}' without its beginning"},
      {"illegal EOF", "a quote is not closed"},
      {"end of document", "fields of one map must begin in the same column"},
      {"anchor is not defined", "define it with & before it is used"},
      {"unknown token", "text that begins with a special character must stand in quotes"},
  };
  for (const Remedy& remedy : kRemedies) {
    if (message.find(remedy.part) != std::string::npos) {
      return fmt::format("not valid YAML ({}): {}", sanitize(message, 200), remedy.remedy);
    }
  }
  return fmt::format("not valid YAML: {}", sanitize(message, 200));
}

}  // namespace

class YamlBuilder : public YAML::EventHandler {
 public:
  using Kind = YamlField::Kind;

  YamlBuilder(std::string_view text, std::string_view origin, const YamlLimits& limits)
      : tree_(std::make_shared<YamlField::Tree>()), limits_(limits), quotes_(text) {
    tree_->origin = origin;
  }

  void OnDocumentStart(const YAML::Mark& mark) override {
    if (documents_++ > 0) {
      throw Stop{mark.line + 1, mark.column + 1,
                 "a second document begins here; write one document and no '---'"};
    }
  }
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    refuse_as_key(mark, "a value left empty");
    // The parser sees a missing value only at the next token, which may be lines later.
    const bool in_map = !frames_.empty() && tree_->nodes[frames_.back().node].kind == Kind::map;
    const uint32_t node = add(mark, Kind::null, anchor);
    if (in_map) {
      const YamlKey& key = frames_.back().key;
      tree_->nodes[node].line = key.line;
      tree_->nodes[node].column = key.column;
    }
    attach(mark, node);
  }

  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    refuse_as_key(mark, "an alias");
    const auto found = anchors_.find(anchor);
    if (found == anchors_.end() || open(found->second)) {
      stop(mark, "this alias lies inside the value that it stands for");
    }
    attach(mark, found->second);
  }

  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    check_tag(mark, tag);
    if (tag == "!" && !quotes_.closed(mark.line, mark.column)) {
      stop(mark, "the quote that begins here is never closed; add the second one");
    }
    if (wants_key()) {
      set_key(mark, value);
      return;
    }
    const uint32_t node = add(mark, Kind::scalar, anchor);
    tree_->nodes[node].text = value;
    tree_->nodes[node].plain = tag == "?";
    attach(mark, node);
  }

  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    begin(mark, tag, anchor, Kind::list);
  }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    begin(mark, tag, anchor, Kind::map);
  }
  void OnSequenceEnd() override { end(); }
  void OnMapEnd() override { end(); }

  std::shared_ptr<const YamlField::Tree> tree() const { return tree_; }
  std::optional<uint32_t> root() const { return root_; }

 private:
  struct Frame {
    uint32_t node = 0;
    bool has_key = false;
    YamlKey key;
    std::unordered_map<std::string, int> lines;  // Keys so far and where they stand.
  };

  [[noreturn]] static void stop(const YAML::Mark& mark, std::string sentence) {
    throw Stop{mark.line + 1, mark.column + 1, std::move(sentence)};
  }

  bool wants_key() const {
    return !frames_.empty() && tree_->nodes[frames_.back().node].kind == Kind::map &&
           !frames_.back().has_key;
  }

  bool open(uint32_t node) const {
    return std::any_of(frames_.begin(), frames_.end(),
                       [&](const Frame& frame) { return frame.node == node; });
  }

  void refuse_as_key(const YAML::Mark& mark, std::string_view what) const {
    if (wants_key())
      stop(mark,
           fmt::format("{} stands where a field's name belongs; is a ']' or '}}' missing?", what));
  }

  void check_tag(const YAML::Mark& mark, const std::string& tag) const {
    if (tag.empty() || tag == "?" || tag == "!") return;
    stop(mark, fmt::format("the tag '{}' is not supported; remove it", sanitize(tag, 60)));
  }

  void set_key(const YAML::Mark& mark, const std::string& text) {
    Frame& frame = frames_.back();
    if (text == "<<") stop(mark, "merge keys (<<) are not supported; write the fields out");
    const auto [earlier, fresh] = frame.lines.emplace(text, mark.line + 1);
    if (!fresh) {
      stop(mark, fmt::format("the field '{}' is given twice, first in line {}; remove one",
                             sanitize(text, 60), earlier->second));
    }
    frame.key = {text, mark.line + 1, mark.column + 1};
    frame.has_key = true;
  }

  uint32_t add(const YAML::Mark& mark, Kind kind, YAML::anchor_t anchor) {
    if (tree_->nodes.size() >= limits_.nodes) too_many(mark);
    const auto index = static_cast<uint32_t>(tree_->nodes.size());
    YamlNode& node = tree_->nodes.emplace_back();
    node.kind = kind;
    node.line = mark.line + 1;
    node.column = mark.column + 1;
    if (anchor != 0) anchors_[anchor] = index;
    return index;
  }

  void begin(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor, Kind kind) {
    check_tag(mark, tag);
    refuse_as_key(mark, "a list or map");
    if (static_cast<int>(frames_.size()) >= limits_.depth) too_deep(mark);
    const uint32_t node = add(mark, kind, anchor);
    frames_.emplace_back().node = node;
  }

  void end() {
    const uint32_t node = frames_.back().node;
    frames_.pop_back();
    const YAML::Mark mark = mark_of(tree_->nodes[node]);
    attach(mark, node);
  }

  static YAML::Mark mark_of(const YamlNode& node) {
    YAML::Mark mark;
    mark.line = node.line - 1;
    mark.column = node.column - 1;
    return mark;
  }

  void attach(const YAML::Mark& mark, uint32_t child) {
    if (frames_.empty()) {
      root_ = child;
      return;
    }
    Frame& frame = frames_.back();
    YamlNode& parent = tree_->nodes[frame.node];
    const YamlNode& added = tree_->nodes[child];
    parent.weight += added.weight;
    parent.height = std::max(parent.height, added.height + 1);
    if (parent.weight > limits_.nodes) too_many(mark);
    if (static_cast<int>(frames_.size()) + added.height > limits_.depth) too_deep(mark);
    parent.children.push_back(child);
    if (parent.kind == Kind::map) {
      parent.keys.push_back(std::move(frame.key));
      frame.has_key = false;
    }
  }

  [[noreturn]] void too_many(const YAML::Mark& mark) const {
    stop(mark, fmt::format("more than {} values, aliases expanded; split the file", limits_.nodes));
  }
  [[noreturn]] void too_deep(const YAML::Mark& mark) const {
    stop(mark, fmt::format("lists and maps are nested more than {} deep", limits_.depth));
  }

  std::shared_ptr<YamlField::Tree> tree_;
  YamlLimits limits_;
  QuoteChecker quotes_;
  int documents_ = 0;
  std::vector<Frame> frames_;
  std::unordered_map<YAML::anchor_t, uint32_t> anchors_;
  std::optional<uint32_t> root_;
};

Result<YamlField> parse_yaml(std::string_view text, std::string_view origin,
                             const YamlLimits& limits) {
  if (text.size() > limits.bytes) {
    return fail(ErrorCode::invalid_input,
                "{}: {} is too much for a file written by hand; at most {}", origin,
                format_bytes(static_cast<double>(text.size())),
                format_bytes(static_cast<double>(limits.bytes)));
  }
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);  // A byte order mark.
  try {
    check_characters(text);
    TextBuffer buffer(text);
    std::istream stream(&buffer);
    YAML::Parser parser(stream);
    YamlBuilder builder(text, origin, limits);
    while (parser.HandleNextDocument(builder)) {
    }
    const std::optional<uint32_t> root = builder.root();
    if (!root || builder.tree()->nodes[*root].kind == YamlField::Kind::null) {
      return fail(ErrorCode::invalid_input, "{}:1:1: there is nothing in it but space and comments",
                  origin);
    }
    return YamlField(builder.tree(), *root, "");
  } catch (const Stop& stop) {
    return fail(ErrorCode::invalid_input, "{}:{}:{}: {}", origin, stop.line, stop.column,
                stop.sentence);
  } catch (const YAML::Exception& error) {
    return fail(ErrorCode::invalid_input, "{}:{}:{}: {}", origin, error.mark.line + 1,
                error.mark.column + 1, explain(error.msg));
  } catch (const std::bad_alloc&) {
    return fail(ErrorCode::machine, "{}: out of memory while reading it", origin);
  } catch (const std::exception& error) {
    return fail(ErrorCode::invalid_input, "{}: not valid YAML: {}", origin,
                sanitize(error.what(), 200));
  }
}

}  // namespace assay::input
