#pragma once

// An agent that sees the machine read-only, its own copy of the case alone excepted (bubblewrap).

#include <filesystem>
#include <string>
#include <vector>

#include "assay/base/result.h"

namespace assay::lab {

struct AgentConfinement {
  std::vector<std::filesystem::path> hidden;    // Folders that are empty for it.
  std::vector<std::filesystem::path> shown;     // Read-only; also within what is hidden.
  std::vector<std::filesystem::path> writable;  // Also within what is hidden.
};

// `words` behind bwrap.
std::vector<std::string> confined(const std::vector<std::string>& words,
                                  const AgentConfinement& confinement);

// Whether that works here: unsupported says what is missing. Nothing is ever run unconfined
// instead.
Status check_confinement(const std::vector<std::string>& environment);

}  // namespace assay::lab
