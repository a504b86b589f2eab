#include "cli/files/run_files.h"

#include <algorithm>

#include "assay/base/file.h"
#include "assay/base/text.h"
#include "assay/kernel/provider.h"
#include "assay/profiler/tool.h"

namespace assay::cli {

std::string results_file_name(const std::string& provider) {
  for (const auto& one : built_in_providers())
    if (const ProviderInfo& info = one->info(); info.name == provider && !info.results_file.empty())
      return info.results_file;
  return provider + "_results.json";
}

Result<std::vector<std::string>> write_results(const std::vector<ProviderResults>& results,
                                               const std::filesystem::path& folder) {
  std::vector<std::string> paths;
  for (const ProviderResults& one : results) {
    paths.push_back((folder / results_file_name(one.provider)).string());
    ASSAY_TRY(write_provider_results(paths.back(), one));
  }
  return paths;
}

std::vector<size_t> comparable(const std::vector<ProviderResults>& results) {
  // Results first, then those that were confirmed, without which nothing is proven against them.
  const auto worth = [&](size_t i) {
    const auto confirmed = std::ranges::count_if(
        results[i].results, [](const ProviderResult& one) { return one.verdict.has_value(); });
    return std::pair(results[i].results.size(), confirmed);
  };
  std::vector<size_t> places;
  for (size_t i = 0; i < results.size(); ++i)  // The last of those that have the most.
    if (places.empty() || worth(i) >= worth(places[0])) places = {i};
  if (places.empty()) return {};
  const ProviderResults& baseline = results[places[0]];
  for (size_t i = 0; i < results.size(); ++i) {
    const bool covers = std::ranges::all_of(baseline.results, [&](const ProviderResult& wanted) {
      return results[i].find(wanted.name) != nullptr;
    });
    if (i != places[0] && covers) places.push_back(i);
  }
  return baseline.results.empty() || places.size() < 2 ? std::vector<size_t>() : places;
}

std::filesystem::path plain_folder(const std::filesystem::path& folder) {
  const std::filesystem::path plain = folder.lexically_normal();
  return plain.has_filename() || !plain.has_relative_path() ? plain : plain.parent_path();
}

Status check_run_folder(const std::filesystem::path& folder,
                        const std::vector<process::AskedProvider>& providers) {
  namespace fs = std::filesystem;
  const bool writes_the_tools =
      std::ranges::any_of(providers, [](const process::AskedProvider& provider) {
        return results_file_name(provider.name) == profiler::kResultsFile;
      });
  std::error_code failed;
  // What is written through a link lands in somebody else's folder.
  for (const char* name : {"journal.jsonl", "logs", "sources"})
    if (fs::is_symlink(fs::symlink_status(folder / name, failed)))
      return fail(ErrorCode::invalid_input,
                  "--output-dir: {} in '{}' is a link, and a run's files lie in its own folder; "
                  "name another folder, or take the link away",
                  name, sanitize(folder.string(), 300));
  if (fs::exists(folder / "journal.jsonl", failed)) return {};
  std::vector<std::string> found;
  for (const char* name : {"record.json", "logs", "sources/manifest.json"})
    if (fs::exists(fs::symlink_status(folder / name, failed))) found.emplace_back(name);
  for (const auto& file : fs::directory_iterator(folder, failed))
    if (const std::string name = file.path().filename().string();
        name.ends_with("_results.json") && (writes_the_tools || name != profiler::kResultsFile))
      found.push_back(name);
  if (found.empty()) return {};
  std::sort(found.begin(), found.end());
  return fail(ErrorCode::invalid_input,
              "--output-dir: {} is in '{}' already, without the journal of a run that could be "
              "resumed or moved aside; name another folder, or move it away",
              sanitize(found.front(), 200), sanitize(folder.string(), 300));
}

Status write_problem_log(const ProblemRecord& problem, const std::filesystem::path& folder) {
  const std::filesystem::path logs = folder / "logs";
  ASSAY_TRY(make_directories(logs.string()));
  return write_file_atomic((logs / (problem.name + ".log")).string(), problem_log(problem));
}

}  // namespace assay::cli
