#pragma once

#include <string_view>

namespace assay::lab {

// `**` stands for any text, `*` for any without a slash; all else for itself.
bool matches(std::string_view path, std::string_view pattern);

}  // namespace assay::lab
