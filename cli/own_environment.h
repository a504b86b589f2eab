#pragma once

// What single commands want of the environment. It is in settings.cc, the only reader of it.

#include <optional>
#include <string>
#include <vector>

#include "assay/base/result.h"

namespace assay::cli {

// A variable that has a key, of the environment, else of a .env file; empty: none.
Result<std::string> key_variable(const std::string& name);

// The environment's value of a name that a user's file lists (`agent.pass_env` of a case).
std::optional<std::string> environment_value(const std::string& name);

// All of it, for a program that a user has us start; keys left out.
std::vector<std::string> own_environment();

}  // namespace assay::cli
