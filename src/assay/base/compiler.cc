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

std::string first_error(std::string_view printed, std::string_view except) {
  constexpr std::string_view kMarks[] = {": error: ", ": fatal error: ", ": catastrophic error: "};
  for (const std::string_view line : split(printed, '\n')) {
    if (!except.empty() && line.starts_with(except)) continue;
    for (const std::string_view mark : kMarks) {
      const size_t at = line.find(mark);
      if (at == std::string_view::npos) continue;
      // Behind the file are a line and perhaps a column, after colons or between brackets.
      const std::string_view place = line.substr(0, at);
      const bool brackets = place.ends_with(')');
      const size_t name_end = brackets ? place.rfind('(') : place.find(':');
      if (name_end == std::string_view::npos) continue;
      const std::string_view rest = place.substr(name_end + 1);
      const std::string_view number = rest.substr(0, rest.find_first_not_of("0123456789"));
      if (number.empty()) continue;
      const std::string_view file = place.substr(0, name_end);
      return sanitize(file.substr(file.rfind('/') + 1), 200) + ":" + std::string(number) + ": " +
             sanitize(trim(line.substr(at + mark.size())), 300);
    }
  }
  return {};
}

}  // namespace assay
