#pragma once

// How users name a kernel of a file: FILE or FILE::ENTRY. The one rule by which that is split.

#include <string>
#include <string_view>

namespace assay::input {

struct FileAndEntry {
  std::string file;
  std::string entry;  // Empty: none was named.

  std::string text() const { return entry.empty() ? file : file + "::" + entry; }
};

// ENTRY stands behind the first "::" of the file's own name, and may be qualified itself:
// "a::b/my.cc::mine::gemm" is mine::gemm of the file "a::b/my.cc".
FileAndEntry split_entry(std::string_view text);

}  // namespace assay::input
