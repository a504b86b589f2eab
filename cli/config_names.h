#pragma once

#include "assay/base/json_fwd.h"
#include "cli/config.h"
#include "cli/flags/command_line.h"

namespace assay::cli {

// What a --config may name: flags of the commands, and settings of the providers that there are.
ConfigNames config_names(const CommandLine& line);

// The same as a JSON Schema.
Json config_schema(const ConfigNames& names);

}  // namespace assay::cli
