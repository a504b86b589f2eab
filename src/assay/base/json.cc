#include "assay/base/json.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <new>

#include "assay/base/hash.h"
#include "assay/base/text.h"

namespace assay {
namespace {

constexpr std::uint64_t kRootKey = 0x9E3779B97F4A7C15;  // Any number does.

std::uint64_t chain(std::uint64_t parent, std::string_view token) {
  return fast_hash(token, parent);
}

// Hands out the characters and tells the reader how far the parser has come.
class CountingIterator {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  CountingIterator(const char* at, const char** reached) : at_(at), reached_(reached) {}
  reference operator*() const { return *at_; }
  CountingIterator& operator++() {
    *reached_ = ++at_;
    return *this;
  }
  CountingIterator operator++(int) {
    CountingIterator old = *this;
    ++*this;
    return old;
  }
  bool operator==(const CountingIterator& other) const { return at_ == other.at_; }
  bool operator!=(const CountingIterator& other) const { return at_ != other.at_; }

 private:
  const char* at_;
  const char** reached_;
};

// "syntax error while parsing value - invalid literal; last read: '<a megabyte>'; expected ..."
// with the library's own prefix taken off and the quotation made short.
std::string plain_sentence(std::string_view what) {
  if (const auto at = what.find("] "); at != what.npos) what.remove_prefix(at + 2);
  if (what.starts_with("parse error")) {
    if (const auto at = what.find(": "); at != what.npos) what.remove_prefix(at + 2);
  }
  constexpr std::string_view kLastRead = "last read: '";
  std::string text;
  if (const auto at = what.find(kLastRead); at != what.npos) {
    const auto start = at + kLastRead.size();
    auto end = what.rfind("'; expected");
    if (end == what.npos || end < start) end = what.size() - 1;
    text += what.substr(0, start);
    const std::string_view quoted = what.substr(start, std::max(end, start) - start);
    text += quoted.size() > 40 ? quoted.substr(quoted.size() - 40) : quoted;
    text += what.substr(std::max(end, start));
  } else {
    text = what;
  }
  return sanitize(text, 300);
}

// Builds the value and refuses what nothing of ours should ever read.
class Reader final : public nlohmann::json_sax<Json> {
 public:
  Reader(std::string_view text, std::string_view origin,
         std::unordered_map<std::uint64_t, int>* lines)
      : begin_(text.data()),
        end_(begin_ + text.size()),
        reached_(begin_),
        counted_(begin_),
        origin_(origin),
        lines_(lines) {}

  Result<Json> read() {
    const bool done = Json::sax_parse(CountingIterator(begin_, &reached_),
                                      CountingIterator(end_, &reached_), this);
    if (error_) return fail(std::move(*error_));
    if (!done) return fail(ErrorCode::internal, "{}: the JSON parser gave no reason", origin_);
    return std::move(root_);
  }

  bool null() override { return add(Json(nullptr)); }
  bool boolean(bool value) override { return add(Json(value)); }
  bool number_integer(number_integer_t value) override { return add(Json(value)); }
  bool number_unsigned(number_unsigned_t value) override { return add(Json(value)); }
  bool number_float(number_float_t value, const string_t& text) override {
    if (text.find_first_of(".eE") == text.npos) {
      return refuse(fmt::format("the integer {} needs more than 64 bits", sanitize(text, 60)));
    }
    return add(Json(value));
  }
  bool string(string_t& value) override { return add(Json(std::move(value))); }
  bool binary(binary_t&) override { return refuse("binary values are not JSON"); }

  bool start_object(std::size_t) override { return open(Json::object()); }
  bool start_array(std::size_t) override { return open(Json::array()); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }

  bool key(string_t& value) override {
    Container& parent = stack_.back();
    parent.slot = nullptr;
    const auto [member, is_new] = parent.value->get_ref<Json::object_t&>().emplace(value, nullptr);
    if (!is_new) return refuse(fmt::format("key '{}' is given twice", sanitize(value, 100)));
    parent.slot = &member->second;
    if (lines_) parent.member_key = chain(parent.key, value);
    return true;
  }

  bool parse_error(std::size_t position, const std::string&,
                   const nlohmann::detail::exception& error) override {
    const std::size_t size = static_cast<std::size_t>(end_ - begin_);
    const char* at = begin_ + std::min(position > 0 ? position - 1 : 0, size);
    return refuse_at(at, non_finite_literal(at) ? "JSON has no NaN or Infinity; write null"
                                                : plain_sentence(error.what()));
  }

 private:
  struct Container {
    Json* value = nullptr;
    std::uint64_t key = 0;
    std::uint64_t member_key = 0;  // Of the member that comes next, in an object.
    Json* slot = nullptr;          // Where it goes.
  };

  // Did the parser stumble over one of the literals that other languages write?
  bool non_finite_literal(const char* at) const {
    const char* start = at;
    const auto is_letter = [](char c) { return (c | 0x20) >= 'a' && (c | 0x20) <= 'z'; };
    if (start == end_ || !is_letter(*start)) return false;
    while (start > begin_ && is_letter(start[-1])) --start;
    const std::string_view rest(start, static_cast<std::size_t>(end_ - start));
    for (std::string_view literal : {"NaN", "nan", "Infinity", "inf", "Inf"}) {
      if (rest.starts_with(literal)) return true;
    }
    return false;
  }

  bool refuse(std::string sentence) {
    return refuse_at(reached_ > begin_ ? reached_ - 1 : begin_, std::move(sentence));
  }

  bool refuse_at(const char* at, std::string sentence) {
    int line = 1;
    const char* line_start = begin_;
    for (const char* c = begin_; c < at; ++c) {
      if (*c == '\n') {
        ++line;
        line_start = c + 1;
      }
    }
    error_ = Error{ErrorCode::invalid_input,
                   fmt::format("{}:{}:{}: {}", origin_, line, at - line_start + 1, sentence)};
    return false;
  }

  // Puts the value in its place. Pointers to open containers stay good: an object's members do not
  // move, and an array does not grow while one of its items is open.
  bool place(Json value, Json*& placed, std::uint64_t& key) {
    if (++values_ > kMaxJsonValues) {
      return refuse(fmt::format("more than {} values", kMaxJsonValues));
    }
    if (stack_.empty()) {
      root_ = std::move(value);
      placed = &root_;
      key = kRootKey;
    } else if (Container& parent = stack_.back(); parent.value->is_array()) {
      auto& items = parent.value->get_ref<Json::array_t&>();
      if (lines_) key = chain(parent.key, std::to_string(items.size()));
      items.push_back(std::move(value));
      placed = &items.back();
    } else {
      *parent.slot = std::move(value);
      placed = parent.slot;
      key = parent.member_key;
    }
    if (lines_) lines_->emplace(key, line_here());
    return true;
  }

  bool add(Json value) {
    Json* placed = nullptr;
    std::uint64_t key = 0;
    return place(std::move(value), placed, key);
  }

  bool open(Json value) {
    if (stack_.size() >= static_cast<std::size_t>(kMaxJsonDepth)) {
      return refuse(fmt::format("nested deeper than {} levels", kMaxJsonDepth));
    }
    Container container;
    if (!place(std::move(value), container.value, container.key)) return false;
    stack_.push_back(container);
    return true;
  }

  bool close() {
    stack_.pop_back();
    return true;
  }

  // The line of the token just read. A number is only over at the character after it, which may be
  // the end of the line: hence the last character does not count.
  int line_here() {
    for (; counted_ + 1 < reached_; ++counted_) {
      if (*counted_ == '\n') ++line_;
    }
    return line_;
  }

  const char* begin_;
  const char* end_;
  const char* reached_;
  const char* counted_;
  int line_ = 1;
  std::string origin_;
  std::unordered_map<std::uint64_t, int>* lines_;
  Json root_;
  std::vector<Container> stack_;
  std::size_t values_ = 0;
  std::optional<Error> error_;
};

Result<Json> read(std::string_view text, std::string_view origin,
                  std::unordered_map<std::uint64_t, int>* lines) {
  if (text.size() > kMaxJsonBytes) {
    return fail(ErrorCode::invalid_input, "{}: {} is more JSON than is read ({} at most)", origin,
                format_bytes(static_cast<double>(text.size())),
                format_bytes(static_cast<double>(kMaxJsonBytes)));
  }
  // The reader takes one for the end.
  if (const std::size_t zero = text.find('\0'); zero != std::string_view::npos)
    return fail(
        ErrorCode::invalid_input, "{}:{}: there is a zero byte, which no JSON has", origin,
        1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(zero), '\n'));
  try {
    return Reader(text, origin, lines).read();
  } catch (const std::bad_alloc&) {
    return fail(ErrorCode::machine, "{}: not enough memory for this JSON", origin);
  } catch (const std::exception& error) {
    return fail(ErrorCode::internal, "{}: {}", origin, plain_sentence(error.what()));
  }
}

}  // namespace

Result<Json> parse_json(std::string_view text, std::string_view origin) {
  return read(text, origin, nullptr);
}

Result<JsonDocument> parse_json_document(std::string_view text, std::string_view origin) {
  JsonDocument document;
  document.origin = origin;
  ASSAY_TRY(document.root, read(text, origin, &document.lines_));
  return document;
}

std::uint64_t JsonDocument::root_key() { return kRootKey; }

std::uint64_t JsonDocument::child_key(std::uint64_t parent, std::string_view token) {
  return chain(parent, token);
}

int JsonDocument::line_of_key(std::uint64_t key, int otherwise) const {
  const auto at = lines_.find(key);
  return at == lines_.end() ? otherwise : at->second;
}

int JsonDocument::line_of(std::string_view pointer) const {
  std::uint64_t key = kRootKey;
  int line = line_of_key(key, 1);
  if (pointer.empty() || pointer[0] != '/') return line;
  for (std::string_view token : split(pointer.substr(1), '/')) {
    std::string plain;
    for (std::size_t i = 0; i < token.size(); ++i) {
      const bool escaped = token[i] == '~' && i + 1 < token.size();
      if (escaped && token[i + 1] == '0') {
        plain += '~', ++i;
      } else if (escaped && token[i + 1] == '1') {
        plain += '/', ++i;
      } else {
        plain += token[i];
      }
    }
    key = child_key(key, plain);
    line = line_of_key(key, line);
  }
  return line;
}

std::string canonical(const Json& value) {
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

// Of UTF-8 they are two or three bytes, and stand in strings alone: U+0080 to U+009F, which some
// terminals obey, U+202A to U+202E and U+2066 to U+2069, which turn the direction of what is shown.
std::string dump_pretty(const Json& value) {
  const std::string text = value.dump(2, ' ', false, Json::error_handler_t::replace);
  std::string shown;
  shown.reserve(text.size() + 1);
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = [&](std::size_t at) {
      return at < text.size() ? static_cast<unsigned char>(text[at]) : 0U;
    };
    const unsigned second = byte(i + 1), third = byte(i + 2);
    if (byte(i) == 0xc2 && second < 0xa0) {
      shown += fmt::format("\\u{:04x}", second);
      i += 1;
    } else if (byte(i) == 0xe2 && ((second == 0x80 && third >= 0xaa && third <= 0xae) ||
                                   (second == 0x81 && third >= 0xa6 && third <= 0xa9))) {
      shown += fmt::format("\\u{:04x}", 0x2000U | (second & 0x3fU) << 6 | (third & 0x3fU));
      i += 2;
    } else {
      shown += text[i];
    }
  }
  return shown += '\n';
}

}  // namespace assay
