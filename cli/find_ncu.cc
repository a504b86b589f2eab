#include "cli/find_ncu.h"

#include <algorithm>
#include <filesystem>
#include <unistd.h>
#include <utility>

#include "assay/base/text.h"

namespace assay::cli {
namespace {

namespace fs = std::filesystem;

bool is_program(const fs::path& path) {
  std::error_code error;
  return fs::is_regular_file(path, error) && ::access(path.c_str(), X_OK) == 0;
}

std::string along_the_path(const std::string& name, const Settings& settings) {
  for (const std::string& variable : settings.child_environment) {
    if (!variable.starts_with("PATH=")) continue;
    for (const std::string_view folder : split(std::string_view(variable).substr(5), ':'))
      if (const fs::path path = fs::path(folder) / name;
          folder.starts_with('/') && is_program(path))
        return path.string();
  }
  return {};
}

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
    if (name.starts_with(prefix) && is_program(at->path() / rest))
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
                                    ? along_the_path(wanted, settings)
                                    : fs::absolute(wanted).lexically_normal().string();
    if (program.empty() || !is_program(program))
      return fail(ErrorCode::invalid_input, "{}: '{}' is no program that may be executed", from,
                  sanitize(wanted, 300));
    return FoundNcu{.program = program, .missing = {}};
  }
  const fs::path base = root;
  for (const std::string& program :
       {along_the_path("ncu", settings), newest(base / "usr/local", "cuda", "bin/ncu"),
        newest(base / "opt/nvidia/nsight-compute", "", "ncu")})
    if (!program.empty()) return FoundNcu{.program = program, .missing = {}};
  return FoundNcu{.program = {},
                  .missing =
                      "Nsight Compute's ncu is neither along the PATH nor in CUDA's folders; "
                      "install it (package nsight-compute), or name it by --ncu"};
}

}  // namespace assay::cli
