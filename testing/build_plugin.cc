#include "testing/build_plugin.h"

#include <cctype>
#include <cstdlib>
#include <filesystem>

#include <fmt/format.h>

#include "assay/base/clock.h"
#include "assay/base/subprocess.h"
#include "assay/base/text.h"

namespace assay::testing {

Result<std::string> build_plugin(const std::string& file, const std::string& folder,
                                 const std::vector<std::string>& macros) {
  const char* root = std::getenv("ASSAY_SOURCE_DIR");
  const char* path = std::getenv("PATH");
  if (root == nullptr) return fail(ErrorCode::internal, "run these tests by ctest");
  const bool cpp = file.ends_with(".cc");
  std::string name = std::filesystem::path(file).stem().string();
  if (!macros.empty()) name = macros.front();
  for (char& c : name) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  const std::string output = fmt::format("{}/{}.so", folder, name);
  SubprocessOptions options;
  options.argv = {"c++",
                  "-x",
                  cpp ? "c++" : "c",
                  cpp ? "-std=c++17" : "-std=c99",
                  "-pedantic",
                  "-Wall",
                  "-O1",
                  "-Wextra",
                  "-Werror",
                  "-shared",
                  "-fvisibility=hidden",
                  "-fPIC",
                  "-I",
                  fmt::format("{}/src", root),
                  "-I",
                  fmt::format("{}/src/assay/kernel", root)};
  for (const std::string& macro : macros) options.argv.push_back("-D" + macro);
  options.argv.insert(options.argv.end(), {file, "-o", output});
  options.env = {fmt::format("PATH={}", path == nullptr ? "/usr/bin:/bin" : path)};
  CommandLimits limits;
  limits.timeout_ns = 120 * kNsPerSecond;
  ASSAY_TRY(const CommandOutput built, run_command(options, limits));
  if (built.status.success()) return output;
  return fail(ErrorCode::build_failed, "{}", sanitize(built.err, 4000, Newlines::keep));
}

}  // namespace assay::testing
