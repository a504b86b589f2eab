#pragma once

// The characters that byte-level vocabularies write bytes as: printable ones stand for themselves,
// the others for code points from U+0100 on, in order (GPT-2's table).

#include <optional>
#include <string>
#include <string_view>

namespace assay::text {

const std::string& byte_character(unsigned char byte);
// The bytes that `text` is written for; none if a character of it stands for no byte.
std::optional<std::string> bytes_of_characters(std::string_view text);

}  // namespace assay::text
