#include "assay/base/json_bytes.h"

#include <nlohmann/json.hpp>

#include "assay/base/utf8.h"

namespace assay {
namespace {

// Of U+10FF00 and the byte: F4 8F and then two bytes that hold the byte's eight bits.
constexpr unsigned char kFirst = 0xf4, kSecond = 0x8f, kThird = 0xbe;
constexpr std::string_view kReplaced = "\xef\xbf\xbd";  // What canonical() has for a wrong byte.

unsigned char byte_at(std::string_view text, std::size_t i) {
  return i < text.size() ? static_cast<unsigned char>(text[i]) : 0;
}

// The byte that stands for another one at `i`; 0 for none.
unsigned char carried_at(std::string_view text, std::size_t i) {
  if (byte_at(text, i) != kFirst || byte_at(text, i + 1) != kSecond) return 0;
  const unsigned char third = byte_at(text, i + 2), fourth = byte_at(text, i + 3);
  if ((third & 0xfeU) != kThird || (fourth & 0xc0U) != 0x80U) return 0;
  return static_cast<unsigned char>(0x80U | (third & 1U) << 6 | (fourth & 0x3fU));
}

std::string to_text(std::string_view bytes) {
  std::string text;
  for (std::size_t i = 0; i < bytes.size();) {
    char32_t point = 0;
    const std::size_t size = decode_utf8(bytes.substr(i), point);
    if (size > 0 && carried_at(bytes, i) == 0) {
      text += bytes.substr(i, size);
      i += size;
      continue;
    }
    const unsigned char byte = byte_at(bytes, i++);
    text += static_cast<char>(kFirst);
    text += static_cast<char>(kSecond);
    text += static_cast<char>(kThird | (byte >> 6 & 1U));
    text += static_cast<char>(0x80U | (byte & 0x3fU));
  }
  return text;
}

std::string to_bytes(std::string_view text) {
  std::string bytes;
  for (std::size_t i = 0; i < text.size();) {
    const unsigned char carried = carried_at(text, i);
    bytes += carried != 0 ? static_cast<char>(carried) : text[i];
    i += carried != 0 ? 4 : 1;
  }
  return bytes;
}

Json each_string(const Json& value, std::string (*change)(std::string_view)) {
  if (value.is_string()) return change(value.get_ref<const std::string&>());
  if (value.is_array()) {
    Json list = Json::array();
    for (const Json& item : value) list.push_back(each_string(item, change));
    return list;
  }
  if (!value.is_object()) return value;
  Json object = Json::object();
  for (const auto& [key, item] : value.items()) object[change(key)] = each_string(item, change);
  return object;
}

}  // namespace

std::string canonical_bytes(const Json& value) {
  std::string text = canonical(value);
  // Nearly every value is of plain text.
  const bool plain =
      text.find(kReplaced) == std::string::npos && text.find("\xf4\x8f") == std::string::npos;
  return plain ? text : canonical(each_string(value, &to_text));
}

Result<Json> parse_json_bytes(std::string_view text, std::string_view origin) {
  ASSAY_TRY(Json value, parse_json(text, origin));
  if (text.find("\xf4\x8f") == std::string_view::npos) return value;
  return each_string(value, &to_bytes);
}

}  // namespace assay
