#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace assay::report {

// Text of a record, which may come from anywhere: nothing of it that a terminal would obey, and so
// many bytes at most.
std::string safe(std::string_view text, std::size_t most_bytes = 240);

}  // namespace assay::report
