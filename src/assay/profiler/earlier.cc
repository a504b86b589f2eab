#include "assay/profiler/earlier.h"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "assay/base/file.h"
#include "assay/base/text.h"
#include "assay/record/environment.h"

namespace assay::profiler {
namespace {

namespace fs = std::filesystem;

bool is_there(const fs::path& path) {
  std::error_code ignored;
  return fs::exists(fs::symlink_status(path, ignored));
}

// The results and the files that they are made of, into the first folder of that name that is free.
Result<std::string> move_aside(const SweepRequest& request, const ProviderResults& results) {
  fs::path aside;
  for (int n = 1; aside.empty() || is_there(aside); ++n)
    aside = request.folder / fmt::format("earlier-{}", n);
  ASSAY_TRY(make_directories(aside.string()));
  std::vector<std::string> names = results.failed, files;
  for (const ProviderResult& result : results.results) names.push_back(result.name);
  for (const std::string& name : names)
    for (const char* suffix : {".csv", ".log"}) files.push_back(name + suffix);
  files.push_back(request.results_file);  // Last: without it nothing says what the others are.
  for (const std::string& file : files) {
    if (!is_there(request.folder / file)) continue;
    std::error_code error;
    fs::rename(request.folder / file, aside / file, error);
    if (error)
      return fail(ErrorCode::machine, "{}: cannot be moved aside: {}",
                  (request.folder / file).string(), error.message());
  }
  return aside.string();
}

// Whether a result was asked for so.
bool same(const Json& asked, const Json& tried, const std::string& binary_sha256) {
  if (!asked.is_object() || !asked.contains("tried") || asked["tried"] != tried) return false;
  const auto hash = asked.find("binary_sha256");
  return hash != asked.end() && *hash == binary_sha256;
}

}  // namespace

Result<Earlier> Earlier::open(const SweepRequest& request) {
  Earlier earlier;
  const fs::path file = request.folder / request.results_file;
  if (!is_there(file)) {
    if (request.if_present == IfPresent::resume)
      earlier.notes_.push_back(
          fmt::format("{} holds no results to go on from: starting anew", request.folder.string()));
    return earlier;
  }
  if (request.if_present == IfPresent::refuse)
    return fail(ErrorCode::invalid_input,
                "{}: results are here already; --resume runs what is missing or has changed, "
                "--fresh moves them aside",
                file.string());
  auto loaded = load_provider_results(file.string());
  if (!loaded && request.if_present == IfPresent::fresh) {
    // Damaged: what it named cannot be told, but it is moved, not lost.
    ASSAY_TRY(const std::string aside, move_aside(request, {}));
    earlier.notes_.push_back(
        fmt::format("{}; that file is now in {}, and its reports are where "
                    "they were",
                    loaded.error().message, aside));
    return earlier;
  }
  if (!loaded)
    return fail(loaded.error().code, "{}; --fresh moves it aside", loaded.error().message);
  ProviderResults results = std::move(*loaded);
  // Those of a race have a record, and are that run's to move.
  if (std::ranges::any_of(results.results, [](const auto& one) { return !one.record.empty(); }))
    return fail(ErrorCode::invalid_input,
                "{}: these are the results of a race; name another --output-dir", file.string());
  if (request.if_present == IfPresent::fresh) {
    ASSAY_TRY(const std::string aside, move_aside(request, results));
    earlier.notes_.push_back(fmt::format("the results that were here are now in {}", aside));
    return earlier;
  }
  std::vector<std::string> differences;
  if (results.environment && request.machine)
    differences = environment_differences(*results.environment, *request.machine);
  if (!differences.empty())
    earlier.notes_.push_back(
        fmt::format("the results that were here are of another machine ({}): "
                    "starting anew",
                    join(differences, "; ")));
  else
    earlier.results_ = std::move(results.results);
  return earlier;
}

std::optional<ProviderResult> Earlier::take(const std::string& problem, const Json& tried,
                                            const std::string& binary_sha256) {
  for (ProviderResult& result : results_)
    if (result.name == problem && result.metadata.contains("asked") &&
        same(result.metadata["asked"], tried, binary_sha256))
      return std::move(result);
  return std::nullopt;
}

std::vector<ProviderResult> Earlier::take_others(const std::vector<Problem>& problems) {
  std::vector<ProviderResult> others;
  for (ProviderResult& result : results_)
    if (!result.name.empty() &&
        std::ranges::find(problems, result.name, &Problem::name) == problems.end())
      others.push_back(std::move(result));
  return others;
}

}  // namespace assay::profiler
