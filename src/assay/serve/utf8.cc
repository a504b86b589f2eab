#include "assay/serve/utf8.h"

#include <algorithm>

#include <fmt/format.h>

namespace assay::serve {
namespace {

constexpr std::string_view kReplacement = "\xef\xbf\xbd";

struct Character {
  std::size_t size = 1;  // Bytes, or those that belong together where it is none.
  bool valid = false;
  bool cut = false;  // Valid so far, and the text ends.
};

struct Lead {
  std::size_t size;
  unsigned char least, most;  // Of the second byte: neither overlong nor a surrogate.
};

Lead lead_of(unsigned char c) {
  if (c < 0x80) return {1, 0, 0};
  if (c < 0xc2) return {0, 0, 0};
  if (c < 0xe0) return {2, 0x80, 0xbf};
  if (c == 0xe0) return {3, 0xa0, 0xbf};
  if (c == 0xed) return {3, 0x80, 0x9f};
  if (c < 0xf0) return {3, 0x80, 0xbf};
  if (c == 0xf0) return {4, 0x90, 0xbf};
  if (c < 0xf4) return {4, 0x80, 0xbf};
  if (c == 0xf4) return {4, 0x80, 0x8f};
  return {0, 0, 0};
}

Character first_character(std::string_view text) {
  const Lead lead = lead_of(static_cast<unsigned char>(text[0]));
  if (lead.size == 0) return {};
  for (std::size_t i = 1; i < lead.size; ++i) {
    if (i == text.size()) return {i, false, true};
    const auto c = static_cast<unsigned char>(text[i]);
    const unsigned char least = i == 1 ? lead.least : 0x80, most = i == 1 ? lead.most : 0xbf;
    if (c < least || c > most) return {i, false, false};
  }
  return {lead.size, true, false};
}

void append_escaped(std::string& out, char c) {
  switch (c) {
    case '"':
      out += "\\\"";
      return;
    case '\\':
      out += "\\\\";
      return;
    case '\n':
      out += "\\n";
      return;
    case '\r':
      out += "\\r";
      return;
    case '\t':
      out += "\\t";
      return;
    default:
      fmt::format_to(std::back_inserter(out), "\\u{:04x}", static_cast<unsigned char>(c));
  }
}

bool is_plain(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte >= 0x20 && byte < 0x7f && c != '"' && c != '\\';
}

}  // namespace

std::size_t whole_characters(std::string_view text) {
  const std::size_t looked_at = std::min<std::size_t>(3, text.size());
  for (std::size_t back = 1; back <= looked_at; ++back) {
    const std::size_t at = text.size() - back;
    if ((static_cast<unsigned char>(text[at]) & 0xc0) == 0x80) continue;  // Not a first byte.
    return first_character(text.substr(at)).cut ? at : text.size();
  }
  return text.size();
}

void append_json_text(std::string& out, std::string_view text) {
  out += '"';
  while (!text.empty()) {
    const auto plain =
        static_cast<std::size_t>(std::ranges::find_if_not(text, is_plain) - text.begin());
    out.append(text.substr(0, plain));
    text.remove_prefix(plain);
    if (text.empty()) break;
    const Character character = first_character(text);
    if (!character.valid)
      out += kReplacement;
    else if (character.size == 1)
      append_escaped(out, text[0]);
    else
      out.append(text.substr(0, character.size));
    text.remove_prefix(character.size);
  }
  out += '"';
}

std::string json_text(std::string_view text) {
  std::string out;
  append_json_text(out, text);
  return out;
}

}  // namespace assay::serve
