#include "assay/lab/evaluate/env_defaults.h"

#include "assay/base/file.h"
#include "assay/base/text.h"

namespace assay::lab {

namespace fs = std::filesystem;

Result<Environment> read_env_defaults(const fs::path& case_folder) {
  const fs::path path = case_folder / "workspace" / "backend" / "env.defaults";
  std::error_code ignored;
  Environment environment;
  if (!fs::exists(path, ignored)) return environment;
  constexpr size_t kMost = size_t{1} << 20;
  ASSAY_TRY(const std::string text, read_file(path.string(), kMost));
  int number = 0;
  for (const std::string_view raw : split(text, '\n')) {
    ++number;
    const std::string_view line = trim(raw);
    if (line.empty() || line.front() == '#') continue;
    const size_t equals = line.find('=');
    const std::string name(trim(line.substr(0, equals)));
    const Status status = equals == std::string_view::npos
                              ? fail(ErrorCode::invalid_input, "expected NAME=value")
                              : check_variable(name);
    if (!status)
      return fail(ErrorCode::invalid_input, "workspace/backend/env.defaults:{}: {}", number,
                  status.error().message);
    environment[name] = trim(line.substr(equals + 1));
  }
  return environment;
}

}  // namespace assay::lab
