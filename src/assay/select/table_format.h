#pragma once

// What writing and reading a table's file share. Not for use outside select.

#include <cstddef>
#include <string>
#include <string_view>

namespace assay {

inline constexpr std::string_view kTableMagic = "ASSAYTBL";
inline constexpr size_t kTableHeaderBytes = 8 + 4 + 4 + 8 + 32;
inline constexpr size_t kMostChoices = 64;  // Of one problem.

// A file whose body this is: header, size and checksum in front. Whoever changes a body must do
// this, and then only the reader's checks of the body are left.
std::string seal_table(std::string_view body);

}  // namespace assay
