#include "assay/text/utf8.h"

#include <algorithm>

namespace assay::text {
namespace {

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

}  // namespace

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

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    if (static_cast<unsigned char>(text[0]) < 0x80) {
      text.remove_prefix(1);
      continue;
    }
    const Character character = first_character(text);
    if (!character.valid) return false;
    text.remove_prefix(character.size);
  }
  return true;
}

std::size_t whole_characters(std::string_view text) {
  const std::size_t looked_at = std::min<std::size_t>(3, text.size());
  for (std::size_t back = 1; back <= looked_at; ++back) {
    const std::size_t at = text.size() - back;
    if ((static_cast<unsigned char>(text[at]) & 0xc0) == 0x80) continue;  // Not a first byte.
    return first_character(text.substr(at)).cut ? at : text.size();
  }
  return text.size();
}

void append_code_point(std::string& out, char32_t code_point) {
  const auto put = [&](char32_t bits) { out += static_cast<char>(bits); };
  const auto follow = [&](int shift) { put(0x80 | ((code_point >> shift) & 0x3f)); };
  if (code_point < 0x80) return put(code_point);
  if (code_point < 0x800) {
    put(0xc0 | (code_point >> 6));
  } else if (code_point < 0x10000) {
    put(0xe0 | (code_point >> 12));
    follow(6);
  } else {
    put(0xf0 | (code_point >> 18));
    follow(12);
    follow(6);
  }
  follow(0);
}

}  // namespace assay::text
