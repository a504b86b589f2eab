#include "cli/settings.h"

#include <array>
#include <cstdlib>
#include <map>

#include <fmt/format.h>

#include "assay/base/file.h"
#include "assay/base/text.h"
#include "cli/dot_env.h"

namespace assay::cli {
namespace {

Result<std::map<std::string, std::string>> read_dot_env() {
  std::error_code error;
  if (!std::filesystem::is_regular_file(".env", error)) return std::map<std::string, std::string>();
  ASSAY_TRY(const std::string text, read_file(".env", 1 << 20));
  return parse_dot_env(text);
}

}  // namespace

std::span<const EnvironmentVariable> environment_variables() {
  static constexpr EnvironmentVariable kVariables[] = {
      {"ASSAY_CACHE_DIR",
       "Where compiled kernels are kept; else XDG_CACHE_HOME/assay, else ~/.cache/assay."},
      {"ASSAY_DEVICE", "What to run on, where --device does not say."},
      {"ASSAY_LOCK_DIR", "Where commands that measure lock each other out."},
      {"ASSAY_PLUGIN_PATH", "Folders, parted by colons, where plug-ins are looked for."},
      {"CUTLASS_PROFILER_BIN",
       "The cutlass_profiler of `assay sweep --profiler`, where --profiler-bin does not say."},
      {"CXX", "C++ compiler for users' sources, where --cxx does not say."},
      {"NO_COLOR", "Set: no colours."},
  };
  return kVariables;
}

Result<Settings> Settings::from_environment() {
  ASSAY_TRY(const auto dot_env, read_dot_env());
  const auto get = [&](const char* name) -> std::string {
    if (const char* value = std::getenv(name); value != nullptr) return value;
    const auto found = dot_env.find(name);
    return found == dot_env.end() ? std::string() : found->second;
  };
  Settings settings;
  const std::string home = get("HOME");
  if (const std::string own = get("ASSAY_CACHE_DIR"); !own.empty())
    settings.cache = own;
  else if (const std::string xdg = get("XDG_CACHE_HOME"); !xdg.empty())
    settings.cache = std::filesystem::path(xdg) / "assay";
  else
    settings.cache = std::filesystem::path(home.empty() ? "/tmp" : home) / ".cache" / "assay";
  settings.locks = get("ASSAY_LOCK_DIR");
  settings.device = get("ASSAY_DEVICE");
  settings.cutlass_profiler = get("CUTLASS_PROFILER_BIN");
  const std::string plugins = get("ASSAY_PLUGIN_PATH");
  for (const std::string_view folder : split(plugins, ':'))
    if (!folder.empty()) settings.plugin_path.emplace_back(folder);
  if (const std::string cxx = get("CXX"); !cxx.empty()) settings.cxx = cxx;

  // Vendors' libraries read the environment: workers get what finding programs and libraries needs.
  for (const char* name : {"PATH", "LD_LIBRARY_PATH", "HOME", "TMPDIR", "LANG", "ASAN_OPTIONS",
                           "UBSAN_OPTIONS", "LSAN_OPTIONS"})
    if (const std::string value = get(name); !value.empty())
      settings.child_environment.push_back(fmt::format("{}={}", name, value));
  return settings;
}

}  // namespace assay::cli
