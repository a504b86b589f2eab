#include "python.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <optional>

#include "assay/base/compiler.h"
#include "assay/base/file.h"
#include "assay/base/hash.h"
#include "assay/base/subprocess.h"
#include "assay/base/text.h"
#include "assay/device/cuda/libraries.h"

namespace assay::triton {
namespace {

namespace fs = std::filesystem;

constexpr const char* kToolkitPtxas = "/usr/local/cuda/bin/ptxas";
constexpr size_t kMostRecordBytes = size_t{16} << 20;
constexpr std::pair<int, int> kOldest = {3, 2};

std::string setting(const ProviderSettings& settings, const char* name) {
  const auto found = settings.find(name);
  return found == settings.end() || found->second == "found" ? "" : found->second;
}

std::optional<std::pair<int, int>> numbers_of(std::string_view version) {
  int major = 0, minor = 0;
  const char* const end = version.data() + version.size();
  const auto first = std::from_chars(version.data(), end, major);
  if (first.ec != std::errc() || first.ptr == end || *first.ptr != '.') return std::nullopt;
  if (std::from_chars(first.ptr + 1, end, minor).ec != std::errc()) return std::nullopt;
  return std::pair(major, minor);
}

// Null where there is no such file, and where none was asked for.
Json identity_of(const std::string& path) {
  auto identity = file_identity(path);
  if (!identity) return nullptr;
  (*identity)["path"] = path;
  return std::move(*identity);
}

// The program behind all links, which an upgrade replaces.
Json interpreter_of(const std::string& program) {
  std::error_code failed;
  const fs::path whole = fs::canonical(program, failed);
  if (failed) return program;
  Json identity = identity_of(whole.string());
  identity["program"] = program;
  return identity;
}

// "triton-3.9.0.dist-info" in one of them.
std::optional<Python> look_in(const std::string& program) {
  constexpr std::string_view kPrefix = "triton-", kSuffix = ".dist-info";
  for (const fs::path& folder : cuda::package_folders_of(program)) {
    std::error_code failed;
    if (!fs::is_directory(folder / "triton", failed)) continue;
    for (const auto& entry : fs::directory_iterator(folder, failed)) {
      const std::string name = entry.path().filename().string();
      if (!name.starts_with(kPrefix) || !name.ends_with(kSuffix)) continue;
      Python found{.program = program,
                   .version = {},
                   .package = (folder / "triton").string(),
                   .identity = {}};
      found.version = name.substr(kPrefix.size(), name.size() - kPrefix.size() - kSuffix.size());
      // pip's list of the package's files and their hashes; where it is missing, the version.
      const auto record = read_file((entry.path() / "RECORD").string(), kMostRecordBytes);
      found.identity = {{"triton", found.version},
                        {"python", folder.parent_path().filename().string()},
                        {"interpreter", interpreter_of(program)},
                        {"record", record ? sha256_hex(*record) : std::string()}};
      return found;
    }
  }
  return std::nullopt;
}

constexpr std::string_view kInstall =
    "install it (pip install triton, into a virtual environment), and activate that or name its "
    "Python: --setting triton.python=/path/to/bin/python3";

}  // namespace

Status check_settings(const ProviderSettings& settings) {
  for (const char* name : {"python", "ptxas"}) {
    const std::string value = setting(settings, name);
    if (value.empty() || (value == "bundled" && std::string_view(name) == "ptxas")) continue;
    if (!value.starts_with('/') || sanitize(value, 1000) != value)
      return fail(ErrorCode::invalid_input, "triton.{} is a whole path, not '{}'", name,
                  sanitize(value, 200));
  }
  return {};
}

Result<Python> find_python(const ProviderSettings& settings) {
  ASSAY_TRY(check_settings(settings));
  const std::string asked = setting(settings, "python");
  if (!asked.empty() && !is_program(asked))
    return fail(ErrorCode::unsupported, "triton.python names '{}', which is no program",
                sanitize(asked, 300));
  const std::vector<std::string> programs =
      asked.empty() ? cuda::python_programs(settings) : std::vector{asked};
  std::optional<Python> old;
  for (const std::string& program : programs) {
    if (!is_program(program)) continue;
    auto found = look_in(program);
    if (!found) continue;
    const auto numbers = numbers_of(found->version);
    if (numbers && *numbers >= kOldest) return std::move(*found);
    old = std::move(found);
  }
  if (old)
    return fail(ErrorCode::unsupported,
                "the Triton of {} is {}, and 3.2 is the oldest that is known",
                sanitize(old->program, 300), sanitize(old->version, 60));
  return fail(ErrorCode::unsupported, "no Triton lies beside {}; {}", join(programs, ", "),
              kInstall);
}

Result<Assembler> find_assembler(const ProviderSettings& settings) {
  ASSAY_TRY(check_settings(settings));
  Assembler found{.asked = setting(settings, "ptxas"), .toolkit = {}, .identity = {}};
  if (found.asked.empty() && is_program(kToolkitPtxas)) found.toolkit = kToolkitPtxas;
  if (found.asked.starts_with('/') && !is_program(found.asked))
    return fail(ErrorCode::unsupported, "triton.ptxas names '{}', which is no program",
                sanitize(found.asked, 300));
  found.identity = {{"asked", found.asked},
                    {"file", identity_of(found.asked.empty() ? found.toolkit : found.asked)}};
  return found;
}

}  // namespace assay::triton
