#include "assay/base/compiler.h"

#include <sys/stat.h>

#include "assay/base/json.h"
#include "assay/base/text.h"

namespace assay {

Result<Json> file_identity(const std::string& path) {
  struct stat facts {};
  if (::stat(path.c_str(), &facts) != 0)
    return fail(ErrorCode::unsupported, "cannot read '{}'", sanitize(path, 300));
  return Json{
      {"bytes", facts.st_size},
      {"modified_ns", std::int64_t{facts.st_mtim.tv_sec} * 1'000'000'000 + facts.st_mtim.tv_nsec}};
}

std::string first_lines(std::string_view printed, std::string_view except) {
  constexpr int kMostLines = 15;
  std::string lines;
  int count = 0;
  for (const std::string_view line : split(printed, '\n')) {
    if (trim(line).empty() || (!except.empty() && line.starts_with(except))) continue;
    if (++count > kMostLines) return lines + "\n  ...";
    lines += "\n  " + sanitize(line, 500);
  }
  return lines.empty() ? "\n  (it printed nothing)" : lines;
}

}  // namespace assay
