#pragma once

#include <string_view>

namespace assay::text {

// Where GPT-2 ends a word, and ByteLevel with use_regex after it.
inline constexpr std::string_view kGpt2Pattern =
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";

}  // namespace assay::text
