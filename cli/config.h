#pragma once

// --config FILE: defaults for flags, and settings of providers.
//
//   threads: 1                    # Any long flag, for every command that has it.
//   margin: 0.5%
//   sweep: {budget: 60s}          # For one command; wins over the lines above.
//   openblas: {library: /opt/lib/libopenblas.so.0}
//   cublaslt: {space: all}        # What `assay providers` lists of each.
//
// Flags on the command line win over all of it.

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "assay/base/result.h"
#include "assay/kernel/provider.h"

namespace CLI {
class App;
}

namespace assay::cli {

inline constexpr const char* kLibrarySetting = "library";  // Of every provider.

// The names that a config may use.
struct ConfigNames {
  std::map<std::string, std::vector<std::string>> commands;  // Command -> its long flags.
  std::vector<std::string> everywhere;                       // Flags of all commands.
  std::vector<std::string> providers;
  std::map<std::string, std::vector<std::string>> settings;  // Of providers, besides "library".
  // Whether the provider takes these settings; empty: any.
  std::function<Status(const std::string& provider, const ProviderSettings& settings)> check;
};

struct ConfigDefault {
  std::string command;  // Empty: every command that has the flag.
  std::string flag;     // Without dashes.
  std::vector<std::string> values;
  std::string origin;  // "file:line:column: flag", prefix of errors.
};

struct Config {
  std::vector<ConfigDefault> defaults;
  std::map<std::string, ProviderSettings> providers;

  // The value for this flag of this command; null if there is none.
  const ConfigDefault* find(const std::string& command, const std::string& flag) const;

  // An error that a command gives of a flag, "--margin: ...", with the line that the value is from
  // where that was not given in `words`.
  std::string with_origin(const std::string& message, const std::string& command,
                          const std::vector<std::string>& words) const;
};

// Unknown keys are errors with file, line and the nearest name.
Result<Config> parse_config(std::string_view text, const std::string& origin,
                            const ConfigNames& names);
Result<Config> read_config(const std::string& path, const ConfigNames& names);

// Before parsing: what has a default is no longer required.
void relax_required(const Config& config, CLI::App& command);
// After parsing: flags that were not given take their defaults. `app` holds the global ones.
Status apply_defaults(const Config& config, CLI::App& app, CLI::App& command);

}  // namespace assay::cli
