#include "cli/files/find_ncu.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "assay/base/subprocess.h"
#include "assay/base/text.h"

namespace assay::cli {
namespace {

namespace fs = std::filesystem;

// "cuda-12.9" before "cuda-13.0", "2024.3.2" before "2025.1": by the numbers in them.
std::vector<int64_t> numbers_in(const std::string& name) {
  std::vector<int64_t> numbers;
  bool inside = false;
  for (const char c : name) {
    const bool digit = c >= '0' && c <= '9';
    if (digit && !inside) numbers.push_back(0);
    if (digit && numbers.back() < 1'000'000'000) numbers.back() = numbers.back() * 10 + (c - '0');
    inside = digit;
  }
  return numbers;
}

// The newest FOLDER/PREFIX*/REST that is a program.
std::string newest(const fs::path& folder, const std::string& prefix, const std::string& rest) {
  std::vector<std::pair<std::vector<int64_t>, std::string>> found;
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    const std::string name = at->path().filename().string();
    if (name.starts_with(prefix) && is_program((at->path() / rest).string()))
      found.emplace_back(numbers_in(name), (at->path() / rest).string());
  }
  return found.empty() ? std::string() : std::ranges::max(found).second;
}

}  // namespace

Result<FoundNcu> find_ncu(const std::string& named, const Settings& settings,
                          const std::string& root) {
  const std::string& wanted = named.empty() ? settings.ncu : named;
  const char* const from = named.empty() ? "ASSAY_NCU" : "--ncu";
  if (wanted == kNoNcu)
    return FoundNcu{.program = {}, .missing = std::string(from) + " said that ncu is not wanted"};
  if (!wanted.empty()) {
    const std::string program = wanted.find('/') == std::string::npos
                                    ? find_along_path(wanted, settings.child_environment)
                                    : fs::absolute(wanted).lexically_normal().string();
    if (program.empty() || !is_program(program))
      return fail(ErrorCode::invalid_input, "{}: '{}' is no program that may be executed", from,
                  sanitize(wanted, 300));
    return FoundNcu{.program = program, .missing = {}};
  }
  const fs::path base = root;
  for (const std::string& program : {find_along_path("ncu", settings.child_environment),
                                     newest(base / "usr/local", "cuda", "bin/ncu"),
                                     newest(base / "opt/nvidia/nsight-compute", "", "ncu")})
    if (!program.empty()) return FoundNcu{.program = program, .missing = {}};
  return FoundNcu{.program = {},
                  .missing =
                      "Nsight Compute's ncu is neither along the PATH nor in CUDA's folders; "
                      "install it (package nsight-compute), or name it by --ncu"};
}

}  // namespace assay::cli
