#pragma once

// Names for things that are made one after another on any number of machines: 26 characters of
// Crockford's base 32, the time in milliseconds first, so that they sort by when they were made
// (github.com/ulid/spec).

#include <cstdint>
#include <string>
#include <string_view>

#include "assay/base/result.h"

namespace assay {

// `unix_ms` in 0 .. 2^48 - 1; the other 80 bits are random.
Result<std::string> make_ulid(std::int64_t unix_ms);
Result<std::string> make_ulid();  // Of now.

bool is_ulid(std::string_view text);

}  // namespace assay
