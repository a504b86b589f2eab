#pragma once

// The files of page/, which every page is made of.

#include <string_view>

namespace assay::report {

std::string_view page_file(std::string_view name);

}  // namespace assay::report
