#include "cli/race_options.h"

#include <cmath>
#include <cstdlib>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "assay/base/text.h"

namespace assay::cli {
namespace {

// A finite number and what follows it.
Result<std::pair<double, std::string>> number_and_unit(const std::string& text, const std::string& flag) {
  char* end = nullptr;
  const double number = std::strtod(text.c_str(), &end);
  if (end == text.c_str() || !std::isfinite(number))
    return fail(ErrorCode::invalid_input, "{}: '{}' is not a number", flag, sanitize(text));
  return std::pair(number, std::string(end));
}

}  // namespace

Result<double> parse_fraction(const std::string& text, const std::string& flag) {
  ASSAY_TRY(auto parsed, number_and_unit(text, flag));
  if (parsed.second == "%") parsed.first /= 100;
  else if (!parsed.second.empty())
    return fail(ErrorCode::invalid_input, "{}: '{}' is not understood; write 1% or 0.01", flag, sanitize(text));
  if (parsed.first <= 0 || parsed.first >= 1)
    return fail(ErrorCode::invalid_input, "{}: {} is out of range; it lies between 0 and 100 %", flag, sanitize(text));
  return parsed.first;
}

Result<double> parse_seconds(const std::string& text, const std::string& flag) {
  ASSAY_TRY(auto parsed, number_and_unit(text, flag));
  const auto& [number, unit] = parsed;
  double scale = 0;
  if (unit.empty() || unit == "s") scale = 1;
  if (unit == "ms") scale = 1e-3;
  if (unit == "m" || unit == "min") scale = 60;
  if (unit == "h") scale = 3600;
  if (scale == 0) return fail(ErrorCode::invalid_input, "{}: '{}' is not understood; write 60s, 2m or 500ms", flag, sanitize(text));
  if (number <= 0 || number * scale > 1e7) return fail(ErrorCode::invalid_input, "{}: {} is out of range; it must be more than 0", flag, sanitize(text));
  return number * scale;
}

void RaceOptions::declare(CLI::App& app) {
  app.add_option("--provider", providers, "Providers to ask (default: all but reference)")->type_name("NAME");
  app.add_option("--library", libraries, "The library that a provider loads: PROVIDER=PATH")->type_name("P=PATH");
  app.add_option("--filter", filter, "Only kernels for which this holds, e.g. \"tile_m == 256 and provider == 'openblas'\"")->type_name("EXPR");
  app.add_option("--condition", condition, "cache=cold_weights|cold|warm,spacing=back_to_back|isolated,launch=plain")->type_name("COND");
  app.add_option("--preparation", preparation, "none or allowed: may a kernel pack constant operands once?");
  app.add_option("--dependent-launch", dependent_launch, "forbidden or allowed (a GPU's)");
  app.add_option("--threads", threads, "Cores that kernels may use (default: physical cores less one)")->check(CLI::Range(1, 4096));
  app.add_option("--margin", margin, "The difference that matters")->capture_default_str();
  app.add_option("--budget", budget, "Time to spend on timing, e.g. 60s (default: 10 s a problem)")->type_name("TIME");
  app.add_option("--timeout", timeout, "A candidate that does not answer within this time has hung")->type_name("TIME")->capture_default_str();
  app.add_option("--cache-dir", cache, "Where compiled kernels are kept")->type_name("DIR");
  app.add_option("--cxx", cxx, "C++ compiler for users' sources")->type_name("PROGRAM");
}

Result<sweep::Request> RaceOptions::make_request(const Context& context, const std::string& kind) const {
  sweep::Request request;
  request.kind = kind;
  const auto built_in = built_in_providers();
  std::vector<std::string> known;
  for (const auto& provider : built_in) known.push_back(provider->info().name);
  for (const std::string& name : providers)
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      const std::string near = nearest(name, known);
      return fail(ErrorCode::invalid_input, "--provider: there is no provider '{}'{}; there are: {}", sanitize(name),
                  near.empty() ? "" : fmt::format(" (did you mean {}?)", near), fmt::join(known, ", "));
    }
  for (const auto& provider : built_in) {
    const ProviderInfo& info = provider->info();
    const bool asked = std::find(providers.begin(), providers.end(), info.name) != providers.end();
    if (providers.empty() ? info.role != ProviderRole::reference : asked) request.providers.push_back({info.name, "", {}});
  }
  for (const std::string& entry : libraries) {
    const auto equals = entry.find('=');
    const std::string name = entry.substr(0, equals);
    const auto found = std::find_if(request.providers.begin(), request.providers.end(),
                                    [&](const auto& provider) { return provider.name == name; });
    if (equals == std::string::npos || found == request.providers.end())
      return fail(ErrorCode::invalid_input, "--library: '{}' is not PROVIDER=PATH of a provider that takes part", sanitize(entry));
    found->settings["library"] = entry.substr(equals + 1);
  }
  request.filter = filter;
  ASSAY_TRY(request.condition, measure::parse_condition(condition));
  ASSAY_TRY(request.race_class.preparation, measure::parse_preparation(preparation));
  ASSAY_TRY(request.race_class.dependent_launch, measure::parse_dependent_launch(dependent_launch));
  request.threads = threads;
  ASSAY_TRY(request.margin, parse_fraction(margin, "--margin"));
  if (!budget.empty()) {
    ASSAY_TRY(request.budget_seconds, parse_seconds(budget, "--budget"));
  }
  ASSAY_TRY(request.trial_timeout_seconds, parse_seconds(timeout, "--timeout"));
  request.cache = cache.empty() ? context.settings.cache : std::filesystem::path(cache);
  request.cxx = cxx.empty() ? context.settings.cxx : cxx;
  request.command_line = context.command_line;
  request.environment = context.settings.child_environment;
  request.cancel_fd = context.cancel_fd;
  if (context.console.verbosity() > 0) {
    Console& console = context.console;
    request.log = Log([&console](Level, std::string_view text) { console.note(text); });
  }
  return request;
}

}  // namespace assay::cli
