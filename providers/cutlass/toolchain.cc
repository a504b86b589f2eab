#include "toolchain.h"

#include <algorithm>
#include <filesystem>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

#include <fmt/format.h>

#include "assay/base/compiler.h"
#include "assay/base/file.h"
#include "assay/base/hash.h"
#include "assay/base/subprocess.h"
#include "assay/base/text.h"
#include "assay/device/cuda/libraries.h"

namespace assay::cutlass {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kAnswerNs = 20'000'000'000;
constexpr const char* kHeader = "cutlass/cutlass.h";
constexpr const char* kPackage = "cutlass_library";

bool is_there(const fs::path& path) {
  std::error_code ignored;
  return fs::exists(path, ignored);
}

// A checkout has include/ and python/, the package all of it below itself.
Headers headers_below(const fs::path& folder) {
  Headers headers;
  for (const fs::path& include :
       {folder / "include", folder / kPackage / "source/include", folder / "source/include"})
    if (headers.include.empty() && is_there(include / kHeader)) headers.include = include.string();
  for (const fs::path& package : {folder / "python", folder, folder.parent_path()})
    if (headers.package.empty() && is_there(package / kPackage / "generator.py"))
      headers.package = package.string();
  return headers;
}

// "4.2.0" of version.h.
std::string version_of(const std::string& include) {
  const auto text = read_file(include + "/cutlass/version.h", 1 << 20);
  if (!text) return "unknown";
  std::string version;
  for (const char* part : {"MAJOR", "MINOR", "PATCH"}) {
    const std::string define = fmt::format("#define CUTLASS_{} ", part);
    const size_t at = text->find(define);
    if (at == std::string::npos) return "unknown";
    const size_t from = at + define.size();
    const size_t end = text->find_first_not_of("0123456789", from);
    version += (version.empty() ? "" : ".") + text->substr(from, end - from);
  }
  return version;
}

// Names, sizes and times of all headers: to read them would take longer than anything else here.
std::string headers_identity(const fs::path& include) {
  std::vector<std::string> lines;
  for (const char* part : {"cutlass", "cute"}) {
    std::error_code error;
    for (fs::recursive_directory_iterator at(include / part, error), end; !error && at != end;
         at.increment(error)) {
      struct stat facts {};
      if (::stat(at->path().c_str(), &facts) != 0 || !S_ISREG(facts.st_mode)) continue;
      lines.push_back(fmt::format("{} {} {}\n", at->path().string().substr(include.string().size()),
                                  facts.st_size, facts.st_mtim.tv_sec));
    }
  }
  std::sort(lines.begin(), lines.end());
  return sha256_hex(join(lines, ""));
}

Result<std::string> find_nvcc(const Settings& settings) {
  constexpr const char* kInstall =
      "install the CUDA toolkit's nvcc (cuda-nvcc-13-0 and cuda-cudart-dev-13-0 of NVIDIA's "
      "repository), or name one by cutlass.nvcc";
  if (!settings.nvcc.empty()) {
    if (is_program(settings.nvcc.string())) return settings.nvcc.string();
    return fail(ErrorCode::unsupported, "cutlass.nvcc: '{}' is no program; {}",
                sanitize(settings.nvcc.string(), 300), kInstall);
  }
  for (const std::string& file : cuda::toolkit_files("bin/nvcc", settings.pythons))
    if (is_program(file)) return file;
  return fail(ErrorCode::unsupported, "there is no nvcc to compile CUTLASS's kernels with; {}",
              kInstall);
}

}  // namespace

Result<Headers> Headers::find(const Settings& settings) {
  Headers headers;
  if (!settings.directory.empty()) {
    headers = headers_below(settings.directory);
    if (headers.include.empty())
      return fail(ErrorCode::unsupported,
                  "cutlass.directory: '{}' holds no include/{}, nor the package nvidia-cutlass",
                  sanitize(settings.directory.string(), 300), kHeader);
  } else {
    const auto found = cuda::python_files(fmt::format("{}/source/include/{}", kPackage, kHeader),
                                          settings.pythons);
    if (found.empty())
      return fail(ErrorCode::unsupported,
                  "there are no headers of CUTLASS: install nvidia-cutlass from PyPI, or name a "
                  "folder by CUTLASS_DIR or cutlass.directory");
    const fs::path file = found.front();
    headers =
        headers_below(file.parent_path().parent_path().parent_path().parent_path().parent_path());
  }
  headers.version = version_of(headers.include);
  return headers;
}

Result<Toolchain> Toolchain::locate(const Settings& settings) {
  Toolchain toolchain;
  ASSAY_TRY(toolchain.nvcc, find_nvcc(settings));
  ASSAY_TRY(toolchain.headers, Headers::find(settings));
  return toolchain;
}

Result<Toolchain> Toolchain::find(const Settings& settings) {
  ASSAY_TRY(Toolchain toolchain, locate(settings));
  ASSAY_TRY(Json compiler, file_identity(toolchain.nvcc));
  toolchain.identity = {{"nvcc", std::move(compiler)},
                        {"cutlass", toolchain.headers.version},
                        {"headers", headers_identity(toolchain.headers.include)}};
  return toolchain;
}

Result<std::string> Toolchain::compiler_version() const {
  SubprocessOptions options;
  options.argv = {nvcc, "--version"};
  ASSAY_TRY(const CommandOutput output, run_command(options, {.timeout_ns = kAnswerNs}));
  const size_t at = output.out.rfind(", V");
  if (!output.status.success() || at == std::string::npos) return std::string("unknown");
  return sanitize(
      trim(std::string_view(output.out).substr(at + 3, output.out.find('\n', at) - at - 3)), 40);
}

Result<std::string> find_program(const std::string& name) {
  for (const char* folder :
       {"/usr/local/bin", "/usr/bin", "/bin", "/opt/conda/bin", "/opt/venv/bin"})
    if (is_program((fs::path(folder) / name).string())) return (fs::path(folder) / name).string();
  return fail(ErrorCode::not_found, "there is no {}", name);
}

}  // namespace assay::cutlass
