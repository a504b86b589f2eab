#pragma once

// What a shared object says of itself, read as data: nothing of it is loaded or run.

#include <string>
#include <string_view>
#include <vector>

#include "assay/base/result.h"

namespace assay::tvm_ffi {

// What an entry point's name begins with.
inline constexpr std::string_view kPrefix = "__tvm_ffi_";

struct ObjectFile {
  std::vector<std::string> entries;  // Exported, without the prefix, sorted.
  std::vector<std::string> needed;   // Libraries that it is linked to.
};

// content: all of a file. ErrorCode::invalid_input, a sentence of what is wrong with it.
Result<ObjectFile> parse_object(std::string_view content);

}  // namespace assay::tvm_ffi
