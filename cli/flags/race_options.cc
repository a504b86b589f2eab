#include "cli/flags/race_options.h"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "assay/base/choices.h"
#include "assay/base/expression.h"
#include "assay/base/text.h"
#include "assay/kernel/cache_folder.h"
#include "assay/kernel/ranker.h"
#include "cli/files/kernel_files.h"
#include "cli/files/plugin_path.h"
#include "cli/flags/quantities.h"

namespace assay::cli {
namespace {

constexpr int kMinProcesses = 2, kMaxProcesses = 64;

Status add_library(std::vector<process::AskedProvider>& providers, const std::string& entry) {
  const auto equals = entry.find('=');
  const std::string name = entry.substr(0, equals);
  const auto found = std::find_if(providers.begin(), providers.end(),
                                  [&](const auto& provider) { return provider.name == name; });
  // Rankers load theirs where a race asks them.
  if (const auto rankers = ranker_names();
      equals != std::string::npos && std::ranges::find(rankers, name) != rankers.end())
    return {};
  if (equals == std::string::npos || found == providers.end())
    return fail(ErrorCode::invalid_input,
                "--library: '{}' is not NAME=PATH of a provider that takes part, or of a ranker{}",
                sanitize(entry, 200), did_you_mean(name, ranker_names()));
  found->settings["library"] = entry.substr(equals + 1);
  return {};
}

Status add_setting(std::vector<process::AskedProvider>& providers, const std::string& entry) {
  const auto equals = entry.find('='), dot = entry.substr(0, equals).find('.');
  const std::string name = entry.substr(0, std::min(dot, equals));
  const auto found = std::find_if(providers.begin(), providers.end(),
                                  [&](const auto& provider) { return provider.name == name; });
  if (equals == std::string::npos || dot == std::string::npos || found == providers.end())
    return fail(ErrorCode::invalid_input,
                "--setting: '{}' is not PROVIDER.NAME=VALUE of a provider that takes part",
                sanitize(entry, 200));
  const auto built_in = built_in_providers();
  const auto provider = std::find_if(built_in.begin(), built_in.end(), [&](const auto& candidate) {
    return candidate->info().name == name;
  });
  std::vector<std::string> known = {"library"};
  for (const ProviderSetting& setting : (*provider)->info().settings) known.push_back(setting.name);
  const std::string key = entry.substr(dot + 1, equals - dot - 1);
  if (std::find(known.begin(), known.end(), key) == known.end())
    return fail(ErrorCode::invalid_input, "--setting: {} has no setting '{}'{}", name,
                sanitize(key, 80), did_you_mean(key, known, "there is: " + join(known, ", ")));
  found->settings[key] = entry.substr(equals + 1);
  if (const Status taken = (*provider)->check(found->settings); !taken)
    return fail(ErrorCode::invalid_input, "--setting: {}", taken.error().message);
  return {};
}

// "cublaslt.space", of every provider.
std::vector<std::string> recorded_settings() {
  std::vector<std::string> names;
  for (const auto& provider : built_in_providers())
    for (const ProviderSetting& setting : provider->info().settings)
      if (may_be_recorded(provider->info(), setting.name))
        names.push_back(provider->info().name + '.' + setting.name);
  return names;
}

// All of them, each with the library that it was given.
std::vector<process::AskedRanker> request_rankers(const Context& context,
                                                  const std::vector<std::string>& libraries) {
  std::vector<process::AskedRanker> requests;
  for (const std::string& name : ranker_names()) {
    process::AskedRanker& request = requests.emplace_back(process::AskedRanker{name, {}});
    const auto settings = context.provider_settings.find(name);
    if (settings != context.provider_settings.end()) request.settings = settings->second;
    request.settings["pythons"] = context.settings.pythons;
    for (const std::string& entry : libraries)
      if (entry.starts_with(name + '='))
        request.settings["library"] = entry.substr(name.size() + 1);
  }
  return requests;
}

}  // namespace

Status keep_those_of_the_device(sweep::Request& request, const std::vector<std::string>& named) {
  const bool on_gpu = request.venue.is_gpu();
  for (const auto& provider : built_in_providers()) {
    const ProviderInfo& info = provider->info();
    // A user's file for the CPU is refused where its rows are looked at, with its own sentence.
    if (info.on_gpu == on_gpu || info.role == ProviderRole::reference ||
        (info.role == ProviderRole::user && on_gpu))
      continue;
    if (std::find(named.begin(), named.end(), info.name) != named.end())
      return fail(ErrorCode::invalid_input, "--provider: {} has kernels for {}; {}", info.name,
                  info.on_gpu ? "a GPU" : "the CPU",
                  info.on_gpu ? "give --device gpu" : "leave --device out");
    std::erase_if(request.pool.providers,
                  [&](const auto& asked) { return asked.name == info.name; });
  }
  return {};
}

Status check_settings(const sweep::Request& request) {
  const auto built_in = built_in_providers();
  for (const process::AskedProvider& asked : request.pool.providers)
    for (const auto& provider : built_in) {
      if (provider->info().name != asked.name) continue;
      if (const Status taken = provider->check(asked.settings); !taken)
        return fail(taken.error().code, "{} (said by the environment or a configuration file)",
                    taken.error().message);
    }
  return {};
}

std::vector<std::string> ranker_names() {
  std::vector<std::string> names;
  for (const auto& ranker : built_in_rankers()) names.push_back(ranker->info().name);
  return names;
}

bool is_told_of_files(const process::AskedProvider& asked) {
  for (const auto& provider : built_in_providers())
    if (provider->info().name == asked.name && provider->info().role == ProviderRole::user)
      return std::ranges::any_of(asked.settings, [](const auto& setting) {
        return setting.first != "cxx" && setting.first != "cache" && setting.first != "pythons";
      });
  return false;
}

bool is_provider(const std::string& name) {
  const auto built_in = built_in_providers();
  return std::any_of(built_in.begin(), built_in.end(),
                     [&](const auto& provider) { return provider->info().name == name; });
}

Result<std::vector<process::AskedProvider>> request_providers(const Context& context,
                                                              const std::vector<std::string>& names,
                                                              const std::string& cxx) {
  const auto built_in = built_in_providers();
  std::vector<std::string> known;
  for (const auto& provider : built_in) known.push_back(provider->info().name);
  for (const std::string& name : names)
    if (std::find(known.begin(), known.end(), name) == known.end())
      return fail(ErrorCode::invalid_input, "--provider: there is no provider '{}'{}",
                  sanitize(name, 80), did_you_mean(name, known, "there are: " + join(known, ", ")));
  std::vector<process::AskedProvider> requests;
  for (const auto& provider : built_in) {
    const ProviderInfo& info = provider->info();
    const bool asked = std::find(names.begin(), names.end(), info.name) != names.end();
    const auto settings = context.provider_settings.find(info.name);
    // One that brings users' files is there whenever there is a file: what is set of it counts.
    const bool brings =
        info.role == ProviderRole::user && settings != context.provider_settings.end();
    if (names.empty() ? info.role == ProviderRole::reference : !asked && !brings) continue;
    process::AskedProvider request{info.name, "", {}};
    if (settings != context.provider_settings.end()) request.settings = settings->second;
    if (const auto told = context.settings.providers.find(info.name);
        told != context.settings.providers.end())
      request.settings.insert(told->second.begin(), told->second.end());
    request.settings["pythons"] = context.settings.pythons;       // For those that come from PyPI.
    request.settings["cxx"] = cxx;                                // For those that compile.
    request.settings["cache"] = context.settings.cache.string();  // And keep what they compile.
    requests.push_back(std::move(request));
  }
  return requests;
}

void PoolOptions::declare(Flags& app) {
  app.set_group(FlagGroup::kernels);
  app.add_option(
         "--provider", providers,
         "Providers whose kernels take part, separated by spaces or commas (default: all but "
         "reference)")
      .type_name("PROVIDER")
      .delimiter(',')
      .several_words(false);
  declare_settings(app);
  app.add_option("--plugin", plugins,
                 "A plug-in whose kernels take part: a file, or a name on the plug-in path")
      .type_name("FILE|NAME")
      .several_words(false);
  app.add_option("--plugin-path", plugin_path,
                 "Folders with plug-ins (default: ASSAY_PLUGIN_PATH, separated by colons)")
      .type_name("DIR")
      .delimiter(':')
      .several_words(false);
  app.add_option("--filter", filter,
                 "Only kernels for which this holds: \"tile_m == 256 and provider == 'openblas'\"")
      .type_name("EXPR");
  declare_machine(app);
}

void PoolOptions::declare_settings(Flags& app) {
  app.set_group(FlagGroup::kernels);
  app.add_option("--library", libraries, "NAME=PATH: the library that a provider or a ranker loads")
      .type_name("P=PATH")
      .several_words(false);
  app.add_option("--setting", settings,
                 "PROVIDER.NAME=VALUE: a setting of a provider (assay providers lists them)")
      .type_name("P.NAME=VALUE")
      .several_words(false);
}

void PoolOptions::declare_machine(Flags& app) {
  app.set_group(FlagGroup::measuring);
  app.add_option("--threads", threads,
                 "Cores that kernels may use (default: physical cores minus one)")
      .range(1, 4096)
      .type_name("N");
  app.set_group(FlagGroup::more);
  app.add_option("--cache-dir", cache, "Where compiled kernels are kept").type_name("DIR");
  app.add_option("--cxx", cxx, "C++ compiler for users' sources").type_name("PROGRAM");
}

Result<std::vector<process::AskedProvider>> PoolOptions::asked_providers(
    const Context& context) const {
  const std::string& compiler = cxx.empty() ? context.settings.cxx : cxx;
  ASSAY_TRY(auto requests, request_providers(context, providers, compiler));
  // Whoever brings a file of the user's is there, asked for or not: so is what it is told.
  for (const auto& provider : built_in_providers()) {
    const ProviderInfo& info = provider->info();
    const auto is_of_it = [&](const std::string& entry) {
      return entry.starts_with(info.name + '.') || entry.starts_with(info.name + '=');
    };
    if (info.role != ProviderRole::user ||
        std::ranges::find(requests, info.name, &process::AskedProvider::name) != requests.end() ||
        (std::ranges::none_of(settings, is_of_it) && std::ranges::none_of(libraries, is_of_it)))
      continue;
    ASSAY_TRY(const auto told, request_providers(context, {info.name}, compiler));
    std::ranges::copy_if(told, std::back_inserter(requests),
                         [&](const auto& request) { return request.name == info.name; });
  }
  for (const std::string& entry : libraries) ASSAY_TRY(add_library(requests, entry));
  for (const std::string& entry : settings) ASSAY_TRY(add_setting(requests, entry));
  return requests;
}

Result<sweep::Request> PoolOptions::make_request(const Context& context,
                                                 const std::string& kind) const {
  sweep::Request request;
  request.question.kind = kind;
  request.pool.cxx = cxx.empty() ? context.settings.cxx : cxx;
  ASSAY_TRY(request.pool.providers, asked_providers(context));
  request.pool.recorded = recorded_settings();
  request.pool.rankers = request_rankers(context, libraries);
  std::vector<std::string> files;
  for (const std::string& plugin : plugins) {
    ASSAY_TRY(
        files.emplace_back(),
        find_plugin(plugin, plugin_path.empty() ? context.settings.plugin_path : plugin_path));
  }
  ASSAY_TRY(request.pool.kernels, read_sources(files));
  if (!filter.empty()) {
    if (const auto parsed = Expression::parse(filter); !parsed)
      return fail(ErrorCode::invalid_input, "--filter: {}", parsed.error().message);
  }
  request.pool.filter = filter;
  request.venue = context.venue;
  request.venue.threads = threads;
  // Compilers run in folders of their own: what is relative is meant from here.
  std::error_code ignored;
  request.keep.cache = std::filesystem::absolute(
      cache.empty() ? context.settings.cache : std::filesystem::path(cache), ignored);
  request.keep.confirmations = (request.keep.cache / "confirmations").string();
  for (process::AskedProvider& provider : request.pool.providers)
    provider.settings["cache"] = request.keep.cache.string();
  request.caller.command_line = context.command_line;
  request.caller.environment = context.settings.child_environment;
  request.caller.cancel_fd = context.cancel_fd;
  request.caller.lock = context.settings.lock_options();
  return request;
}

std::string default_ranker() { return first_ranker(built_in_rankers()); }

void RankingOptions::declare(Flags& app) {
  app.set_group(FlagGroup::kernels);
  app.add_option("--ranker", ranker,
                 "The order in which kernels that are slow to compile are built: " +
                     join(ranker_names(), ", ") + ", or none (as they are listed)")
      .type_name("RANKER")
      .show_default();
  app.add_option(
         "--build", build,
         fmt::format("How many of these are built for each provider and shape, besides those in "
                     "the cache (default: {})",
                     sweep::kBuildAtMost))
      .type_name("N|all");
}

Status RankingOptions::fill(sweep::Request& request) const {
  std::vector<std::string> known = ranker_names();
  known.emplace_back(kNoRanker);
  if (std::ranges::find(known, ranker) == known.end())
    return fail(ErrorCode::invalid_input, "--ranker: there is no ranker '{}'{}",
                sanitize(ranker, 80),
                did_you_mean(ranker, known, "there are: " + join(known, ", ")));
  if (ranker != kNoRanker) request.pool.ranker = ranker;
  request.pool.build = sweep::kBuildAtMost;
  if (build == "all") {
    request.pool.build = 0;
  } else if (!build.empty()) {
    const char* end = build.data() + build.size();
    const auto [at, error] = std::from_chars(build.data(), end, request.pool.build);
    if (error != std::errc() || at != end || request.pool.build < 1)
      return fail(ErrorCode::invalid_input, "--build: '{}' is neither a number from 1 on nor 'all'",
                  sanitize(build, 80));
  }
  return {};
}

void RaceOptions::declare(Flags& app) {
  pool.declare(app);
  app.set_group(FlagGroup::measuring);
  app.add_option(
         "--condition", condition,
         "What is measured, separated by commas: cache=cold_weights|cold|warm, "
         "spacing=back_to_back|isolated|chain, launch=plain|graph. Chain and graph need a GPU")
      .type_name("COND");
  app.add_option("--preparation", preparation,
                 "Whether a kernel may pack constant operands once, ahead of the timed launches")
      .type_name("none|allowed")
      .show_default();
  app.add_option("--dependent-launch", dependent_launch, "On a GPU: whether launches may overlap")
      .type_name("forbidden|allowed")
      .show_default();
  app.add_option("--margin", margin, "The smallest difference that counts")
      .type_name("SHARE")
      .show_default();
  app.add_option("--budget", budget,
                 fmt::format("Time to spend on timing (default: {} s for each problem)",
                             sweep::kSecondsPerProblem))
      .type_name("TIME");
  app.add_option("--timeout", timeout,
                 "How long a candidate may be silent before it counts as hung")
      .type_name("TIME")
      .show_default();
  app.add_option("--compile-timeout", compile_timeout,
                 "How long a compiler may take over one source before it is stopped")
      .type_name("TIME")
      .show_default();
  app.add_option("--memory-limit", memory_limit,
                 "The most memory that a candidate or a compiler may take; a compiler gets at "
                 "least 1 GiB (default: half of the machine's)")
      .type_name("SIZE");
  app.add_option("--processes", processes,
                 "Fresh processes of a confirmation (default: 7 to 15, as the race needs; 7 on a "
                 "GPU). With fewer than 7 a claim is harder to earn")
      .range(kMinProcesses, kMaxProcesses)
      .type_name("N");
  app.set_group(FlagGroup::output);
  app.add_option("--store", store,
                 "An SQLite file that keeps the finished run too; made if absent (assay history)")
      .type_name("FILE");
  declare_lock(app);
}

void RaceOptions::declare_lock(Flags& app) {
  app.set_group(FlagGroup::more);
  app.add_flag("--no-wait", no_wait,
               "End with code 5 if another command is measuring on this machine, or is in line");
  app.add_option("--lock-dir", lock_folder,
                 "The folder of the locks by which commands that measure queue (default: "
                 "/run/lock, else /tmp)")
      .type_name("DIR");
}

Result<sweep::Request> RaceOptions::make_request(const Context& context,
                                                 const std::string& kind) const {
  ASSAY_TRY(sweep::Request request, pool.make_request(context, kind));
  ASSAY_TRY(check_cache_folder(request.keep.cache));
  ASSAY_TRY(keep_those_of_the_device(request, pool.providers));
  ASSAY_TRY(check_settings(request));
  ASSAY_TRY(request.question.condition,
            measure::parse_condition(
                condition, request.venue.is_cpu() ? measure::Place::cpu : measure::Place::gpu));
  ASSAY_TRY(request.question.race_class.preparation, measure::parse_preparation(preparation));
  ASSAY_TRY(request.question.race_class.dependent_launch,
            measure::parse_dependent_launch(dependent_launch));
  ASSAY_TRY(request.effort.margin, parse_fraction(margin, "--margin"));
  if (!budget.empty()) {
    ASSAY_TRY(request.effort.budget_seconds, parse_seconds(budget, "--budget"));
  }
  ASSAY_TRY(request.limits.trial_seconds, parse_seconds(timeout, "--timeout"));
  ASSAY_TRY(request.limits.compile_seconds, parse_seconds(compile_timeout, "--compile-timeout"));
  if (!memory_limit.empty()) {
    ASSAY_TRY(request.limits.memory_bytes, parse_bytes(memory_limit, "--memory-limit"));
  }
  ASSAY_TRY(ranking.fill(request));
  if (processes > 0) request.effort.processes = request.effort.most_processes = processes;
  request.keep.store = store;
  request.caller.lock.wait = !no_wait;
  if (!lock_folder.empty()) request.caller.lock.folder = lock_folder;
  return request;
}

}  // namespace assay::cli
