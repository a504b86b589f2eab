#pragma once

// JSON between our own processes and in files of ours, whose strings may be any bytes: file names
// are. A byte that is no UTF-8 travels as a character of the private area from U+10FF80 on, and so
// does each byte of such a character itself: what arrives is what was sent.

#include <string>
#include <string_view>

#include "assay/base/json.h"

namespace assay {

// The canonical text; parse_json_bytes() gives the value back.
std::string canonical_bytes(const Json& value);

Result<Json> parse_json_bytes(std::string_view text, std::string_view origin);

}  // namespace assay
