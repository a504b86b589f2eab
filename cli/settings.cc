#include "cli/settings.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <functional>
#include <map>
#include <unistd.h>
#include <utility>

#include <fmt/format.h>

#include "assay/base/file.h"
#include "assay/base/text.h"
#include "cli/dot_env.h"
#include "cli/own_environment.h"

namespace assay::cli {
namespace {

struct DotEnvFile {
  std::string path;
  DotEnv values;
};

Result<DotEnvFile> read_dot_env() {
  std::error_code error;
  const std::filesystem::path here = std::filesystem::current_path(error);
  const std::filesystem::path path = find_dot_env(here);
  if (path.empty()) return DotEnvFile();
  DotEnvFile file{path == here / ".env" ? ".env" : path.string(), {}};
  ASSAY_TRY(const std::string text, read_file(path.string(), 1 << 20));
  ASSAY_TRY(file.values, parse_dot_env(text, file.path));
  return file;
}

// In the order of PATH; relative folders of it mean another program in each folder.
std::vector<std::string> programs_in(std::string_view path, std::string_view name) {
  std::vector<std::string> found;
  for (const std::string_view folder : split(path, ':')) {
    const std::string file = fmt::format("{}/{}", folder, name);
    if (folder.starts_with('/') && ::access(file.c_str(), X_OK) == 0) found.push_back(file);
  }
  return found;
}

constexpr const char* kNvccSetting = "nvcc";

// nvcc as a shell would find it, or as CUDA's own variables name it; empty: nowhere.
std::string find_nvcc(const std::function<std::string(const char*)>& get) {
  if (std::string named = get("CUDACXX"); named.starts_with('/')) return named;
  std::vector<std::string> tried;
  for (const char* name : {"CUDA_HOME", "CUDA_PATH"})
    if (const std::string home = get(name); !home.empty()) tried.push_back(home + "/bin/nvcc");
  for (const std::string& file : tried)
    if (::access(file.c_str(), X_OK) == 0) return file;
  const auto found = programs_in(get("PATH"), "nvcc");
  return found.empty() ? std::string() : found.front();
}

// Not of a .env file: a descriptor is this process's own.
Result<int> read_lock_fd() {
  const char* value = std::getenv("ASSAY_LOCK_FD");
  if (value == nullptr || *value == '\0') return -1;
  const std::string_view text(value);
  int fd = -1;
  const auto [end, error] = std::from_chars(text.begin(), text.end(), fd);
  if (error != std::errc() || end != text.end() || fd < 0)
    return fail(ErrorCode::invalid_input,
                "ASSAY_LOCK_FD: '{}' is not the number of a descriptor; unset it",
                sanitize(text, 80));
  return fd;
}

}  // namespace

DeviceLockOptions Settings::lock_options() const {
  DeviceLockOptions options;
  options.folder = locks;
  options.handed_down_fd = lock_fd;
  return options;
}

namespace {

struct OwnVariable {
  const char *name, *meaning;
};

constexpr OwnVariable kOwnVariables[] = {
    {"ASSAY_API_KEY", "The key of `assay serve`, where --api-key-file does not name one."},
    {"ASSAY_CACHE_DIR",
     "Where compiled kernels are kept; else XDG_CACHE_HOME/assay, else ~/.cache/assay, else "
     "/tmp/assay-UID."},
    {"ASSAY_DEVICE", "What to run on, where --device does not say."},
    {"ASSAY_LOCK_DIR", "The folder of the locks by which commands that measure queue."},
    {"ASSAY_LOCK_FD",
     "The descriptor of a held lock, handed down by a parent: this command does not wait for "
     "it."},
    {"ASSAY_NCU", "Nsight Compute's ncu for `assay why` on a GPU, or none (--ncu)."},
    {"ASSAY_PLUGIN_PATH", "Folders, parted by colons, where plug-ins are looked for."},
    {"ASSAY_RUN_TAG", "The climb that attempts of `assay lab` belong to (--run-tag)."},
    {"ASSAY_WEBHOOK_CA_FILE",
     "Whom to trust for a webhook behind https, as certificates in PEM; else whom the system "
     "trusts."},
    {"ASSAY_WEBHOOK_URL",
     "Whom `assay lab` tells of attempts: the secret URL of a Discord, Slack or JSON webhook."},
    {"CUTE_KERNEL_LAB_RUN_TAG", "The same as ASSAY_RUN_TAG, where that is not set."},
    {"CUTLASS_PROFILER_BIN",
     "The cutlass_profiler of `assay sweep --profiler`, where --profiler-bin does not say."},
    {"CUDACXX", "nvcc, for providers that compile by it; else CUDA_HOME's, CUDA_PATH's or PATH's."},
    {"CXX", "C++ compiler for users' sources, where --cxx does not say."},
    {"NO_COLOR", "Set: no colours."},
    {"OPENAI_API_KEY", "The key that `assay load` sends, where --api-key-file does not name one."},
};

std::vector<EnvironmentVariable> all_variables() {
  std::vector<EnvironmentVariable> all;
  for (const auto& [name, meaning] : kOwnVariables) all.push_back({name, meaning});
  for (const auto& provider : built_in_providers())
    for (const auto& [name, setting, meaning] : provider->info().environment)
      all.push_back({name, fmt::format("{} ({}.{}).", meaning, provider->info().name, setting)});
  std::ranges::sort(all, {}, &EnvironmentVariable::name);
  return all;
}

}  // namespace

std::span<const EnvironmentVariable> environment_variables() {
  static const std::vector<EnvironmentVariable> variables = all_variables();
  return variables;
}

namespace {

// The environment wins over the file.
std::string variable(const DotEnvFile& file, const char* name) {
  if (const char* value = std::getenv(name); value != nullptr) return value;
  const auto found = file.values.find(name);
  return found == file.values.end() ? std::string() : found->second.text;
}

// Who says what variable() gives; empty where nobody does.
std::string source_of(const DotEnvFile& file, const char* name) {
  if (std::getenv(name) != nullptr) return "the environment";
  const auto found = file.values.find(name);
  return found == file.values.end() ? std::string()
                                    : fmt::format("{}:{}", file.path, found->second.line);
}

}  // namespace

Result<std::string> key_variable(const std::string& name) {
  ASSAY_TRY(const auto dot_env, read_dot_env());
  return variable(dot_env, name.c_str());
}

std::optional<std::string> environment_value(const std::string& name) {
  const char* value = std::getenv(name.c_str());
  return value == nullptr ? std::nullopt : std::optional<std::string>(value);
}

std::vector<std::string> own_environment() {
  std::vector<std::string> all;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::string_view text = *variable;
    if (!text.starts_with("OPENAI_API_KEY=") && !text.starts_with("ASSAY_API_KEY=") &&
        !text.starts_with("ASSAY_WEBHOOK_URL="))
      all.emplace_back(text);
  }
  return all;
}

Result<Settings> Settings::from_environment() {
  ASSAY_TRY(const auto dot_env, read_dot_env());
  const auto get = [&](const char* name) { return variable(dot_env, name); };
  Settings settings;
  const std::string home = get("HOME");
  if (const std::string own = get("ASSAY_CACHE_DIR"); !own.empty())
    settings.cache = own;
  else if (const std::string xdg = get("XDG_CACHE_HOME"); xdg.starts_with('/'))
    settings.cache = std::filesystem::path(xdg) / "assay";  // A relative one counts as none.
  else if (home.starts_with('/'))
    settings.cache = std::filesystem::path(home) / ".cache" / "assay";
  else
    settings.cache = fmt::format("/tmp/assay-{}", ::geteuid());  // Of everybody one of his own.
  settings.locks = get("ASSAY_LOCK_DIR");
  ASSAY_TRY(settings.lock_fd, read_lock_fd());
  settings.device = get("ASSAY_DEVICE");
  settings.api_key = get("ASSAY_API_KEY");
  settings.ncu = get("ASSAY_NCU");
  settings.run_tag = get("ASSAY_RUN_TAG");
  if (settings.run_tag.empty()) settings.run_tag = get("CUTE_KERNEL_LAB_RUN_TAG");
  settings.webhook_url = get("ASSAY_WEBHOOK_URL");
  settings.webhook_ca_file = get("ASSAY_WEBHOOK_CA_FILE");
  settings.webhook_source = source_of(dot_env, "ASSAY_WEBHOOK_URL");
  settings.cutlass_profiler = get("CUTLASS_PROFILER_BIN");
  const std::string plugins = get("ASSAY_PLUGIN_PATH");
  for (const std::string_view folder : split(plugins, ':'))
    if (!folder.empty()) settings.plugin_path.emplace_back(folder);
  if (const std::string cxx = get("CXX"); !cxx.empty()) settings.cxx = cxx;

  settings.nvcc = find_nvcc(get);
  for (const auto& provider : built_in_providers()) {
    const ProviderInfo& info = provider->info();
    const auto say = [&](const std::string& name, const std::string& value) {
      if (!value.empty()) settings.providers[info.name][name] = value;
    };
    // Who compiles by it says so among its settings.
    if (std::ranges::find(info.settings, kNvccSetting, &ProviderSetting::name) !=
        info.settings.end())
      say(kNvccSetting, settings.nvcc);
    for (const ProviderVariable& variable : info.environment)
      say(variable.setting, get(variable.name.c_str()));
  }
  settings.pythons = join(programs_in(get("PATH"), "python3"), ":");

  // Vendors' libraries read the environment: workers get what finding programs and libraries needs.
  for (const char* name : {"PATH", "LD_LIBRARY_PATH", "HOME", "TMPDIR", "LANG", "ASAN_OPTIONS",
                           "UBSAN_OPTIONS", "LSAN_OPTIONS"})
    if (const std::string value = get(name); !value.empty())
      settings.child_environment.push_back(fmt::format("{}={}", name, value));
  return settings;
}

}  // namespace assay::cli
