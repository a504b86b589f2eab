#include "assay/device/cuda/libraries.h"

#include <algorithm>
#include <filesystem>

namespace assay::cuda {
namespace {

namespace fs = std::filesystem;

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

std::vector<fs::path> python_package_folders() {
  std::vector<fs::path> found;
  std::error_code ignored;
  for (const char* root : {"/usr/local/lib", "/usr/lib", "/opt/conda/lib", "/opt/venv/lib"})
    for (const fs::path& python : entries(root, "python3"))
      for (const char* packages : {"dist-packages", "site-packages"})
        if (fs::is_directory(python / packages, ignored)) found.push_back(python / packages);
  return found;
}

std::vector<std::string> toolkit_files(const std::string& path) {
  std::vector<std::string> found;
  for (const fs::path& toolkit : entries("/usr/local", "cuda")) add(found, toolkit, {path});
  for (const fs::path& packages : python_package_folders())
    for (const fs::path& newer : entries(packages / "nvidia", "cu1")) add(found, newer, {path});
  return once_each(found);
}

std::vector<std::string> python_files(const std::string& path) {
  std::vector<std::string> found;
  for (const fs::path& packages : python_package_folders()) add(found, packages, {path});
  return once_each(found);
}

std::vector<std::string> library_candidates(const std::vector<std::string>& names,
                                            std::string_view package) {
  std::vector<std::string> found;
  for (const fs::path& toolkit : entries("/usr/local", "cuda")) {
    add(found, toolkit / "lib64", names);
    add(found, toolkit / "targets/x86_64-linux/lib", names);
  }
  for (const fs::path& packages : python_package_folders()) {
    const fs::path nvidia = packages / "nvidia";
    for (const fs::path& newer : entries(nvidia, "cu1")) add(found, newer / "lib", names);
    add(found, nvidia / package / "lib", names);
  }
  found.insert(found.end(), names.begin(), names.end());
  return once_each(found);
}

}  // namespace assay::cuda
