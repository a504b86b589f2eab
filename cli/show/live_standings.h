#pragma once

// How a race stands, as lines of the live view: each kernel is named by what it is.

#include <string>
#include <vector>

#include "cli/show/live_text.h"

namespace assay::cli {

// At most `most` lines and the titles above them: who leads, then the user's
// kernels and the best stock one, each with what it is, then the others. No lines while nobody
// races.
std::vector<std::string> standings_lines(const LiveState& state, int width, int most);

}  // namespace assay::cli
