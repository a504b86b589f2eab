#pragma once

// The flags that race, sweep, run, kernels and providers share, and the request that they make.

#include <string>
#include <vector>

#include "assay/base/result.h"
#include "assay/sweep/sweep.h"
#include "cli/command.h"

namespace assay::cli {

// Who may take part.
struct PoolOptions {
  std::vector<std::string> providers;  // --provider
  std::vector<std::string> libraries;  // --library PROVIDER=PATH
  std::vector<std::string> settings;   // --setting PROVIDER.NAME=VALUE
  std::vector<std::string> plugins, plugin_path;
  std::string filter, cache, cxx;
  int threads = 0;

  void declare(Flags& app);
  void declare_settings(Flags& app);  // Of those, what providers are told.
  void declare_machine(Flags& app);   // And what says where kernels run.
  // As --provider, --library and --setting say, those that the device is not for included.
  Result<std::vector<process::AskedProvider>> asked_providers(const Context& context) const;
  // Its kernels are the plug-ins.
  Result<sweep::Request> make_request(const Context& context, const std::string& kind) const;
};

inline constexpr const char* kNoRanker = "none";
// The one that is asked where nobody names one.
std::string default_ranker();

// Which kernels are built where not every one need be.
struct RankingOptions {
  std::string ranker = default_ranker(), build;

  void declare(Flags& app);
  Status fill(sweep::Request& request) const;
};

// How it is raced.
struct RaceOptions {
  PoolOptions pool;
  std::string condition, preparation = "allowed", dependent_launch = "forbidden";
  std::string margin = "1%", budget, timeout = "20s", compile_timeout = "2m";
  std::string memory_limit;
  int processes = 0;  // 0: as many as the plan says.
  RankingOptions ranking;
  bool no_wait = false;
  std::string lock_folder, store;

  void declare(Flags& app);
  void declare_lock(Flags& app);  // Of those, what is about other commands that measure.
  // Everything but problems, kernels and folder.
  Result<sweep::Request> make_request(const Context& context, const std::string& kind) const;
};

// The requests for these providers, in the built-in order; none: all but the reference. Unknown
// names are errors that name the nearest.
Result<std::vector<process::AskedProvider>> request_providers(const Context& context,
                                                              const std::vector<std::string>& names,
                                                              const std::string& cxx);

// Kernels for a GPU and for cores do not race each other: leaves the providers of the request's
// device. Of `named`, those that were asked for, one of the other kind is an error. Not even
// loaded, the others cost nothing (cuBLASLt alone takes 60 ms).
Status keep_those_of_the_device(sweep::Request& request, const std::vector<std::string>& named);

// Whether the request's providers take what they are told, --setting aside, which was looked at
// when it was read.
Status check_settings(const sweep::Request& request);

// Whether it is told something of how users' files are brought, which counts wherever there is one:
// more than every provider is, which is the compiler and the cache.
bool is_told_of_files(const process::AskedProvider& asked);

bool is_provider(const std::string& name);
std::vector<std::string> ranker_names();

}  // namespace assay::cli
