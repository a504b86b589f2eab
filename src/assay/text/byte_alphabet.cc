#include "assay/text/byte_alphabet.h"

#include <array>
#include <unordered_map>

#include "assay/text/utf8.h"

namespace assay::text {
namespace {

bool stands_for_itself(int byte) {
  return (byte >= '!' && byte <= '~') || (byte >= 0xa1 && byte != 0xad);
}

const std::array<std::string, 256>& characters() {
  static const auto table = [] {
    std::array<std::string, 256> made;
    char32_t next = 0x100;
    for (int byte = 0; byte < 256; ++byte)
      append_code_point(made[static_cast<std::size_t>(byte)],
                        stands_for_itself(byte) ? static_cast<char32_t>(byte) : next++);
    return made;
  }();
  return table;
}

const std::unordered_map<std::string_view, char>& bytes() {
  static const auto table = [] {
    std::unordered_map<std::string_view, char> made;
    for (int byte = 0; byte < 256; ++byte)
      made.emplace(characters()[static_cast<std::size_t>(byte)], static_cast<char>(byte));
    return made;
  }();
  return table;
}

}  // namespace

const std::string& byte_character(unsigned char byte) { return characters()[byte]; }

std::optional<std::string> bytes_of_characters(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::size_t size = first_character(text).size;
    const auto found = bytes().find(text.substr(0, size));
    if (found == bytes().end()) return std::nullopt;
    out += found->second;
    text.remove_prefix(size);
  }
  return out;
}

}  // namespace assay::text
