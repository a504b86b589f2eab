#pragma once

// The files of page/, which every page is made of.

#include <string_view>

namespace assay::report {

// What holds a record's words against its samples.
inline constexpr std::string_view kAgain =
    "; <code>assay compare --recompute</code> makes each word again from its samples";

std::string_view page_file(std::string_view name);

}  // namespace assay::report
