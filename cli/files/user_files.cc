#include "cli/files/user_files.h"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "assay/base/text.h"
#include "assay/input/file_and_entry.h"

namespace assay::cli {
std::vector<UserFile> user_files(std::span<const input::KernelSource> sources) {
  std::vector<UserFile> files;
  for (const input::KernelSource& source : sources)
    files.push_back({source.text(), source.families()});
  return files;
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
  return std::filesystem::path(input::split_entry(file_and_entry).file).stem().string();
}

Result<std::vector<FileRefusals>> find_refused_files(const sweep::Request& request,
                                                     std::span<const input::KernelSource> sources) {
  sweep::Request alone = request;
  alone.pool.kernels.assign(sources.begin(), sources.end());
  ASSAY_TRY(const auto found, sweep::discover_each_source(alone));
  std::vector<FileRefusals> all;
  for (size_t i = 0; i < sources.size(); ++i) {
    FileRefusals& file = all.emplace_back();
    file.file = sources[i].text();
    for (size_t p = 0; p < request.question.problems.size(); ++p) {
      if (!found[i][p].rows.empty()) continue;
      auto& sentences = file.problems[request.question.problems[p].name()];
      for (const auto& [reason, refusal] : found[i][p].refusals)
        sentences.push_back(
            fmt::format("{}: {}", to_string(reason), sanitize(refusal.example, 400)));
    }
  }
  return all;
}

void call_by_stem(std::vector<FileRefusals>& files) {
  if (files.size() == 1) files.front().file = stem_of(files.front().file);
}

bool is_refused_by_all(const std::vector<FileRefusals>& files, const std::string& problem) {
  return std::ranges::all_of(
      files, [&](const FileRefusals& file) { return file.problems.contains(problem); });
}

}  // namespace assay::cli
