#pragma once

// What `load`, and a benchmark that loads a server, want of the environment. It is in settings.cc,
// the only reader of it.

#include <string>
#include <vector>

#include "assay/base/result.h"

namespace assay::cli {

// A variable that has a key, of the environment, else of a .env file; empty: none.
Result<std::string> key_variable(const std::string& name);

// All of it, for a program that a user has us start; keys left out.
std::vector<std::string> own_environment();

}  // namespace assay::cli
