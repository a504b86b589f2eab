#pragma once

#include <string>
#include <string_view>

namespace assay::serve {

// `text` in the quotes of JSON, appended. What is not UTF-8 becomes U+FFFD, one for each maximal
// part of a character (as Unicode recommends, and Python's decoder does).
void append_json_text(std::string& out, std::string_view text);
std::string json_text(std::string_view text);

}  // namespace assay::serve
