#pragma once

#include <cstddef>
#include <string_view>

namespace assay {

// The length of the valid UTF-8 character at the start of a text that is not empty, and its code
// point; 0 if there is none.
std::size_t decode_utf8(std::string_view text, char32_t& point);

}  // namespace assay
