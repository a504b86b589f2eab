#pragma once

// Unicode's White_Space.

#include <cstddef>
#include <string_view>

namespace assay::text {

// Bytes of blanks at an end of UTF-8.
std::size_t blanks_at_begin(std::string_view text);
std::size_t blanks_at_end(std::string_view text);

}  // namespace assay::text
