#include "cli/files/new_file.h"

#include <cerrno>
#include <fcntl.h>
#include <filesystem>
#include <unistd.h>

#include "assay/base/fd.h"
#include "assay/base/file.h"
#include "assay/base/text.h"

namespace assay::cli {

Status write_new_file(const std::string& path, std::string_view text, std::string_view flag) {
  const std::string folder = std::filesystem::path(path).parent_path().string();
  if (!folder.empty()) ASSAY_TRY(make_directories(folder));
  // The name is taken before anything is written: two of us cannot both have found it free.
  const UniqueFd taken(::open(path.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0666));
  if (!taken && errno == EEXIST)
    return fail(ErrorCode::invalid_input, "{}: '{}' is there already; name another file", flag,
                sanitize(path, 300));
  if (!taken)
    return fail(errno == ENOSPC ? ErrorCode::machine : ErrorCode::invalid_input,
                "{}: cannot make '{}': {}", flag, sanitize(path, 300), errno_text(errno));
  Status written = write_file_atomic(path, text);
  if (!written) ::unlink(path.c_str());
  return written;
}

}  // namespace assay::cli
