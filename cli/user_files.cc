#include "cli/user_files.h"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "assay/base/text.h"
#include "assay/input/manifest.h"

namespace assay::cli {
namespace {

std::string file_part(const std::string& file_and_entry) {
  return file_and_entry.substr(0, file_and_entry.find("::"));
}

}  // namespace

Result<std::vector<std::vector<KernelEntry>>> read_entries(std::span<const std::string> files) {
  const auto providers = built_in_providers();
  return input::read_kernel_files(files, launch_forms(providers));
}

Result<std::vector<UserFile>> read_user_files(std::span<const std::string> files) {
  ASSAY_TRY(const auto lists, read_entries(files));
  std::vector<UserFile> result;
  for (size_t i = 0; i < files.size(); ++i) {
    UserFile& file = result.emplace_back();
    file.file_and_entry = files[i];
    file.sources.push_back(
        std::filesystem::absolute(file_part(files[i])).lexically_normal().string());
    for (const KernelEntry& entry : lists[i]) {
      file.families.push_back(entry.name);
      const std::string source = entry.source.lexically_normal().string();
      if (std::find(file.sources.begin(), file.sources.end(), source) == file.sources.end())
        file.sources.push_back(source);
    }
  }
  return result;
}

std::string family_of(const KernelOutcome& kernel) {
  const Json family = kernel.metadata.member("family");
  return family.is_string() ? family.get<std::string>() : std::string();
}

bool is_of(const KernelOutcome& kernel, const UserFile& file) {
  return kernel.role == KernelRole::user && std::find(file.families.begin(), file.families.end(),
                                                      family_of(kernel)) != file.families.end();
}

std::string stem_of(const std::string& file_and_entry) {
  return std::filesystem::path(file_part(file_and_entry)).stem().string();
}

Result<std::map<std::string, std::vector<std::string>>> find_refused(
    const sweep::Request& request) {
  sweep::Request alone = request;
  alone.providers.clear();
  std::map<std::string, std::vector<std::string>> refused;
  for (const Problem& problem : request.problems) {
    ASSAY_TRY(const sweep::Discovery found, sweep::discover(alone, &problem, ""));
    if (!found.rows.empty()) continue;
    auto& sentences = refused[problem.name()];
    for (const auto& [reason, refusal] : found.refusals)
      sentences.push_back(fmt::format("{}: {}", to_string(reason), sanitize(refusal.example, 400)));
  }
  return refused;
}

Result<std::vector<FileRefusals>> find_refused_files(const sweep::Request& request,
                                                     const std::vector<std::string>& files) {
  std::vector<FileRefusals> all;
  for (const std::string& file : files) {
    sweep::Request alone = request;
    alone.kernels = {file};
    FileRefusals& refusals = all.emplace_back();
    refusals.file = files.size() == 1 ? stem_of(file) : file;
    ASSAY_TRY(refusals.problems, find_refused(alone));
  }
  return all;
}

bool is_refused_by_all(const std::vector<FileRefusals>& files, const std::string& problem) {
  return std::ranges::all_of(
      files, [&](const FileRefusals& file) { return file.problems.contains(problem); });
}

}  // namespace assay::cli
