#pragma once

// The metadata of a GGUF file, as far as a tokenizer is described in it.

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "assay/base/result.h"

namespace assay::text {

using GgufValue = std::variant<std::int64_t, bool, std::string, std::vector<std::string>,
                               std::vector<std::int64_t>>;

// What a key under "tokenizer." has; other keys, and values of other kinds, are read past.
// Errors (invalid_input): no GGUF of version 2 or 3, or `bytes` end before the metadata do.
Result<std::map<std::string, GgufValue>> read_gguf(std::string_view bytes, std::string_view origin);

}  // namespace assay::text
