#include "assay/load/skim_json.h"

#include <charconv>

#include "assay/base/json.h"

namespace assay::load {
namespace {

constexpr std::uint32_t kReplacement = 0xfffd;

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

void append_code_point(std::uint32_t code, std::string& out) {
  const auto put = [&](std::uint32_t byte) { out += static_cast<char>(byte); };
  if (code < 0x80) return put(code);
  if (code < 0x800) {
    put(0xc0 | code >> 6);
  } else {
    if (code < 0x10000) {
      put(0xe0 | code >> 12);
    } else {
      put(0xf0 | code >> 18);
      put(0x80 | (code >> 12 & 0x3f));
    }
    put(0x80 | (code >> 6 & 0x3f));
  }
  put(0x80 | (code & 0x3f));
}

// Four digits at `at`; none where there are not four.
std::optional<std::uint32_t> hex(std::string_view text, std::size_t at) {
  if (at + 4 > text.size()) return std::nullopt;
  std::uint32_t value = 0;
  const char* const end = text.data() + at + 4;
  const auto [read, error] = std::from_chars(text.data() + at, end, value, 16);
  if (error != std::errc() || read != end) return std::nullopt;
  return value;
}

bool ends_word(char c) { return c == ',' || c == ']' || c == '}' || is_blank(c); }

}  // namespace

char JsonSkimmer::peek() {
  while (!text_.empty() && is_blank(text_.front())) text_.remove_prefix(1);
  return text_.empty() ? '\0' : text_.front();
}

bool JsonSkimmer::next_is(char c) {
  if (peek() != c) return false;
  text_.remove_prefix(1);
  return true;
}

bool JsonSkimmer::enter(char bracket) { return next_is(bracket) && ++depth_ <= kMaxJsonDepth; }

bool JsonSkimmer::leave() {
  --depth_;
  return true;
}

std::optional<std::string_view> JsonSkimmer::string() {
  if (peek() != '"') return std::nullopt;
  // Most strings are a few bytes: a call for each byte, as find_first_of() is, would cost more.
  std::size_t end = 1;
  while (end < text_.size() && text_[end] != '"') end += text_[end] == '\\' ? 2 : 1;
  if (end >= text_.size()) return std::nullopt;
  const std::string_view written = text_.substr(1, end - 1);
  text_.remove_prefix(end + 1);
  return written;
}

std::optional<std::int64_t> JsonSkimmer::integer() {
  const char first = peek();
  std::int64_t value = 0;
  if (first >= '0' && first <= '9') {
    const auto [read, error] = std::from_chars(text_.data(), text_.data() + text_.size(), value);
    const auto used = static_cast<std::size_t>(read - text_.data());
    const char after = used < text_.size() ? text_[used] : '\0';
    if (error == std::errc() && after != '.' && after != 'e' && after != 'E') {
      text_.remove_prefix(used);
      return value;
    }
  }
  // What does not parse shows itself at the next bracket or comma.
  static_cast<void>(skip());
  return std::nullopt;
}

bool JsonSkimmer::skip() {
  const char first = peek();
  if (first == '{') return object([&](std::string_view) { return skip(); });
  if (first == '[') return array([&] { return skip(); });
  if (first == '"') return string().has_value();
  std::size_t end = 0;
  while (end < text_.size() && !ends_word(text_[end])) ++end;
  if (end == 0) return false;
  const std::string_view word = text_.substr(0, end);
  text_.remove_prefix(end);
  if (word == "null" || word == "true" || word == "false") return true;
  double number = 0;
  const auto [read, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  return error != std::errc::invalid_argument && read == word.data() + word.size();
}

void append_unescaped(std::string_view written, std::string& out) {
  std::size_t at = 0;
  while (at < written.size()) {
    const std::size_t next = std::min(written.find('\\', at), written.size());
    out.append(written.substr(at, next - at));
    at = next + 2;
    if (at > written.size()) return;
    const char c = written[next + 1];
    if (c != 'u') {
      constexpr std::string_view kFrom = "nrtbf", kTo = "\n\r\t\b\f";
      const std::size_t known = kFrom.find(c);
      out += known == std::string_view::npos ? c : kTo[known];
      continue;
    }
    const auto first = hex(written, at);
    if (!first) {
      append_code_point(kReplacement, out);
      continue;
    }
    at += 4;
    std::uint32_t code = *first;
    if (code >= 0xd800 && code < 0xe000) {
      const bool pairs = code < 0xdc00 && written.substr(at).starts_with("\\u");
      const auto second = pairs ? hex(written, at + 2) : std::nullopt;
      if (second && *second >= 0xdc00 && *second < 0xe000) {
        code = 0x10000 + ((code - 0xd800) << 10) + (*second - 0xdc00);
        at += 6;
      } else {
        code = kReplacement;
      }
    }
    append_code_point(code, out);
  }
}

}  // namespace assay::load
