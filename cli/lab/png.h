#pragma once

// A drawing as a PNG: the same SVG through rsvg-convert, so that no plot language sees a user's
// text.

#include <string>

#include "cli/command.h"

namespace assay::cli {

// The bytes. unsupported where rsvg-convert is not installed.
Result<std::string> png_of(const Context& context, const std::string& svg, double seconds = 60);

}  // namespace assay::cli
