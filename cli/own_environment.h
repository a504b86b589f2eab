#pragma once

// What `load` alone wants of the environment. It is in settings.cc, the only reader of it.

#include <string>
#include <vector>

#include "assay/base/result.h"

namespace assay::cli {

// OPENAI_API_KEY of the environment, else of a .env file; empty: none.
Result<std::string> openai_api_key();

// All of it, for a program that a user has us start; keys left out.
std::vector<std::string> own_environment();

}  // namespace assay::cli
