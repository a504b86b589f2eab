#pragma once

#include <string>
#include <string_view>

#include "assay/base/result.h"

namespace assay::text {

// Unicode's NFC of UTF-8. Errors: machine (no memory), invalid_input (no UTF-8).
Result<std::string> composed(std::string_view text);

}  // namespace assay::text
