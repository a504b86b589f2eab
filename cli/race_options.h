#pragma once

// The flags that race, sweep and run share, and the request that they make.

#include <string>
#include <vector>

#include "assay/base/result.h"
#include "assay/sweep/sweep.h"
#include "cli/command.h"

namespace assay::cli {

struct RaceOptions {
  std::vector<std::string> providers;      // --provider
  std::vector<std::string> libraries;      // --library PROVIDER=PATH
  std::string filter;
  std::string condition, preparation = "allowed", dependent_launch = "forbidden";
  int threads = 0;
  std::string margin = "1%", budget;
  std::string cache, cxx;
  std::string timeout = "20s";

  void declare(CLI::App& app);
  // Everything but problems, kernels and folder.
  Result<sweep::Request> make_request(const Context& context, const std::string& kind) const;
};

// "1%" or "0.01" -> 0.01; "60s", "2m", "500ms" -> seconds. Errors name the flag.
Result<double> parse_fraction(const std::string& text, const std::string& flag);
Result<double> parse_seconds(const std::string& text, const std::string& flag);

}  // namespace assay::cli
