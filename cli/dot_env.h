#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>

#include "assay/base/result.h"

namespace assay::cli {

struct DotEnvValue {
  std::string text;
  int line = 0;
};
using DotEnv = std::map<std::string, DotEnvValue>;

// A .env file: NAME=value lines, with `export` in front or not; quotes around a value are taken
// off. Names that are not ours are left out, however their lines look; a line of ours that cannot
// be read is invalid_input. `origin`: the file as errors name it.
Result<DotEnv> parse_dot_env(std::string_view text, std::string_view origin = ".env");

// The .env file that counts in a folder: its own, or else the nearest upward, never above the lab
// or the git checkout that the folder is in. Empty where there is none.
std::filesystem::path find_dot_env(const std::filesystem::path& folder);

// A .env file that says nothing yet: every variable that is read (settings.h), with its meaning.
std::string dot_env_example();

}  // namespace assay::cli
