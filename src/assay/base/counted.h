#pragma once

// "1 attempt", "2 attempts".

#include <cstdint>
#include <string>
#include <string_view>

#include <fmt/format.h>

namespace assay {

// Of nouns that take an s.
inline std::string counted(int64_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

}  // namespace assay
