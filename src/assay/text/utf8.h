#pragma once

// Characters in bytes that may be none.

#include <cstddef>
#include <string>
#include <string_view>

namespace assay::text {

struct Character {
  std::size_t size = 1;  // Bytes, or those that belong together where it is none.
  bool valid = false;
  bool cut = false;  // Valid so far, and the text ends.
};

// Of a text that is not empty. What is no character is a maximal part of one, as Unicode recommends
// and Python's decoder does.
Character first_character(std::string_view text);
bool is_utf8(std::string_view text);

// How much of `text` can be told: all but the bytes of a character at its end that is not whole.
std::size_t whole_characters(std::string_view text);

void append_code_point(std::string& out, char32_t code_point);

}  // namespace assay::text
