#include "assay/device/cuda/libraries.h"

#include <algorithm>
#include <filesystem>

#include "assay/base/text.h"

namespace assay::cuda {
namespace {

namespace fs = std::filesystem;

constexpr const char* kPrograms[] = {"/usr/local/bin/python3", "/usr/bin/python3",
                                     "/opt/conda/bin/python3", "/opt/venv/bin/python3"};

void add(std::vector<std::string>& found, const fs::path& folder,
         const std::vector<std::string>& names) {
  std::error_code ignored;
  for (const std::string& name : names)
    if (fs::exists(folder / name, ignored)) found.push_back((folder / name).string());
}

// Entries of a folder whose names begin so, the newest version (by name) first.
std::vector<fs::path> entries(const fs::path& folder, std::string_view prefix) {
  std::vector<fs::path> found;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error))
    if (entry.path().filename().string().starts_with(prefix)) found.push_back(entry.path());
  std::sort(found.rbegin(), found.rend());
  return found;
}

// Links between folders lead to one file.
std::vector<std::string> once_each(const std::vector<std::string>& files) {
  std::vector<std::string> once;
  std::vector<fs::path> seen;
  for (const std::string& file : files) {
    std::error_code error;
    const fs::path real =
        file.find('/') == std::string::npos ? fs::path(file) : fs::canonical(file, error);
    if (std::find(seen.begin(), seen.end(), real) != seen.end()) continue;
    seen.push_back(real);
    once.push_back(file);
  }
  return once;
}

}  // namespace

std::vector<std::string> python_programs(const Settings& settings) {
  std::vector<std::string> programs;
  const auto add_once = [&](std::string_view program) {
    if (!program.empty() && std::ranges::find(programs, program) == programs.end())
      programs.emplace_back(program);
  };
  if (const auto told = settings.find("pythons"); told != settings.end())
    for (const std::string_view program : split(told->second, ':')) add_once(program);
  for (const char* program : kPrograms) add_once(program);
  return programs;
}

std::vector<fs::path> package_folders_of(const std::string& python) {
  std::error_code failed;
  const fs::path prefix = fs::path(python).parent_path().parent_path();
  // Of its own version where its name says one.
  const std::string real = fs::canonical(python, failed).filename().string();
  const std::string own = !failed && real.starts_with("python3.") ? real : "";
  std::vector<fs::path> libraries = {prefix / "lib", prefix / "lib64"};
  if (prefix == "/usr") libraries.emplace_back("/usr/local/lib");
  std::vector<fs::path> folders;
  for (const fs::path& library : libraries)
    for (const fs::path& version : entries(library, "python3")) {
      const std::string name = version.filename().string();
      if (!own.empty() && name != own && name != "python3") continue;
      for (const char* kind : {"site-packages", "dist-packages"})
        if (fs::is_directory(version / kind, failed)) folders.push_back(version / kind);
    }
  std::sort(folders.begin(), folders.end());
  return folders;
}

std::vector<fs::path> python_package_folders(const Settings& settings) {
  std::vector<fs::path> found;
  const auto add_once = [&](const fs::path& folder) {
    if (std::ranges::find(found, folder) == found.end()) found.push_back(folder);
  };
  for (const std::string& program : python_programs(settings))
    for (const fs::path& folder : package_folders_of(program)) add_once(folder);
  std::error_code ignored;
  for (const char* root : {"/usr/local/lib", "/usr/lib", "/opt/conda/lib", "/opt/venv/lib"})
    for (const fs::path& python : entries(root, "python3"))
      for (const char* packages : {"dist-packages", "site-packages"})
        if (fs::is_directory(python / packages, ignored)) add_once(python / packages);
  return found;
}

std::vector<std::string> toolkit_files(const std::string& path, const Settings& settings) {
  std::vector<std::string> found;
  for (const fs::path& toolkit : entries("/usr/local", "cuda")) add(found, toolkit, {path});
  for (const fs::path& packages : python_package_folders(settings))
    for (const fs::path& newer : entries(packages / "nvidia", "cu1")) add(found, newer, {path});
  return once_each(found);
}

std::vector<std::string> python_files(const std::string& path, const Settings& settings) {
  std::vector<std::string> found;
  for (const fs::path& packages : python_package_folders(settings)) add(found, packages, {path});
  return once_each(found);
}

std::vector<std::string> library_candidates(const std::vector<std::string>& names,
                                            std::string_view package, const Settings& settings) {
  std::vector<std::string> found;
  for (const fs::path& toolkit : entries("/usr/local", "cuda")) {
    add(found, toolkit / "lib64", names);
    add(found, toolkit / "targets/x86_64-linux/lib", names);
  }
  for (const fs::path& packages : python_package_folders(settings)) {
    const fs::path nvidia = packages / "nvidia";
    for (const fs::path& newer : entries(nvidia, "cu1")) add(found, newer / "lib", names);
    add(found, nvidia / package / "lib", names);
  }
  found.insert(found.end(), names.begin(), names.end());
  return once_each(found);
}

}  // namespace assay::cuda
