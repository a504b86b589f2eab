#include "cli/files/plugin_path.h"

#include <algorithm>
#include <filesystem>
#include <vector>

#include "assay/base/choices.h"
#include "assay/base/text.h"
#include "assay/input/file_and_entry.h"
#include "assay/input/manifest.h"

namespace assay::cli {
namespace {

namespace fs = std::filesystem;

bool is_file(const fs::path& path) {
  std::error_code failed;
  return fs::is_regular_file(path, failed);
}

std::vector<std::string> plugins_in(std::span<const std::string> folders) {
  std::vector<std::string> names;
  for (const std::string& folder : folders) {
    std::error_code failed;
    for (const auto& file : fs::directory_iterator(folder, failed))
      if (input::is_plugin(file.path())) names.push_back(file.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace

Result<std::string> find_plugin(const std::string& file_or_name,
                                std::span<const std::string> folders) {
  const auto [name, kernel] = input::split_entry(file_or_name);
  if (is_file(name)) {
    if (input::is_plugin(name)) return file_or_name;
    return fail(ErrorCode::invalid_input,
                "--plugin: '{}' is no shared object by its name; other kernels come by --kernels",
                sanitize(name, 200));
  }
  std::error_code failed;
  if (fs::exists(name, failed))
    return fail(ErrorCode::invalid_input, "--plugin: '{}' is no regular file", sanitize(name, 200));
  if (name.find('/') != std::string::npos)
    return fail(ErrorCode::invalid_input, "--plugin: there is no file '{}'", sanitize(name, 200));
  for (const std::string& folder : folders)
    for (const std::string& file : {name, name + ".so", "lib" + name + ".so"})
      if (input::is_plugin(file) && is_file(fs::path(folder) / file))
        return input::FileAndEntry{(fs::path(folder) / file).string(), kernel}.text();
  if (folders.empty())
    return fail(ErrorCode::invalid_input,
                "--plugin: there is no file '{}', and no folder to look in; --plugin-path or "
                "ASSAY_PLUGIN_PATH name some",
                sanitize(name, 200));
  const std::vector<std::string> known = plugins_in(folders);
  return fail(
      ErrorCode::invalid_input, "--plugin: there is no '{}' in {}{}", sanitize(name, 200),
      join(std::vector(folders.begin(), folders.end()), ", "),
      did_you_mean(name, known, "there are: " + (known.empty() ? "none" : join(known, ", "))));
}

}  // namespace assay::cli
