#pragma once

// The key that clients of OpenAI's interface send. It is no setting that every command is given.

#include <string>

#include "assay/base/result.h"

namespace assay::cli {

// OPENAI_API_KEY of the environment, else of a .env file; empty: none. It is in settings.cc, the
// only reader of the environment.
Result<std::string> openai_api_key();

}  // namespace assay::cli
