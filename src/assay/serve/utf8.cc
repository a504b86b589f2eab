#include "assay/serve/utf8.h"

#include <algorithm>

#include <fmt/format.h>

#include "assay/text/utf8.h"

namespace assay::serve {
namespace {

constexpr std::string_view kReplacement = "\xef\xbf\xbd";

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

void append_json_text(std::string& out, std::string_view text) {
  out += '"';
  while (!text.empty()) {
    const auto plain =
        static_cast<std::size_t>(std::ranges::find_if_not(text, is_plain) - text.begin());
    out.append(text.substr(0, plain));
    text.remove_prefix(plain);
    if (text.empty()) break;
    const text::Character character = text::first_character(text);
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
