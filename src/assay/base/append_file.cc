// Files that grow by lines.

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "assay/base/file.h"
#include "assay/base/file_parts.h"
#include "assay/base/text.h"

namespace assay {

using namespace file_parts;  // NOLINT: our own helpers.

namespace {
constexpr std::size_t kReadBytes = 64 << 10;
}

Result<AppendFile> AppendFile::open(const std::string& path, bool fsync_each) {
  AppendFile file;
  ASSAY_TRY(file.fd_, open_regular(path, O_WRONLY | O_CREAT | O_APPEND, "open"));
  file.path_ = path;
  file.fsync_each_ = fsync_each;
  if (fsync_each) ASSAY_TRY(sync_folder(folder_of(path)));  // The name must survive a crash too.
  return file;
}

Result<std::uint64_t> AppendFile::size() const {
  struct stat facts {};
  if (fstat(fd_.get(), &facts) != 0) return system_error("measure", path_, errno);
  return static_cast<std::uint64_t>(facts.st_size);
}

Status AppendFile::append_line(std::string_view line, Durable durable) {
  if (line.find('\n') != std::string_view::npos) {
    return fail(ErrorCode::internal, "a line for '{}' has a newline in it", shown(path_));
  }
  std::string text(line);
  text += '\n';
  ASSAY_TRY(append_whole(fd_.get(), path_, text));
  return fsync_each_ && durable == Durable::now ? sync() : Status();
}

Status AppendFile::sync() {
  if (fdatasync(fd_.get()) != 0) return system_error("sync", path_, errno);
  return {};
}

Status AppendFile::truncate(std::uint64_t bytes) {
  if (ftruncate(fd_.get(), static_cast<off_t>(bytes)) != 0) {
    return system_error("truncate", path_, errno);
  }
  return {};
}

Result<LineReader> LineReader::open(const std::string& path, std::uint64_t from) {
  LineReader reader;
  ASSAY_TRY(reader.fd_, open_regular(path, O_RDONLY, "read"));
  reader.path_ = path;
  reader.next_ = from;
  return reader;
}

Result<std::optional<LineReader::Line>> LineReader::next() {
  buffer_.erase(0, used_);
  used_ = 0;
  std::size_t searched = 0;
  while (true) {
    const std::size_t end = buffer_.find('\n', searched);
    if (end != std::string::npos) return take(end, true);
    if (ended_) return buffer_.empty() ? std::optional<Line>() : take(buffer_.size(), false);
    if (buffer_.size() > kMostLineBytes) {
      return fail(ErrorCode::invalid_input, "'{}' has a line of more than {}", shown(path_),
                  format_bytes(static_cast<double>(kMostLineBytes)));
    }
    searched = buffer_.size();
    buffer_.resize(searched + kReadBytes);
    ssize_t n = 0;
    do {
      n = ::pread(fd_.get(), buffer_.data() + searched, kReadBytes,
                  static_cast<off_t>(next_ + searched));
    } while (n < 0 && errno == EINTR);
    if (n < 0) return system_error("read", path_, errno);
    buffer_.resize(searched + static_cast<std::size_t>(n));
    ended_ = n == 0;
  }
}

LineReader::Line LineReader::take(std::size_t size, bool whole) {
  used_ = size + (whole ? 1 : 0);
  const Line line{std::string_view(buffer_).substr(0, size), next_, whole};
  next_ += used_;
  return line;
}

}  // namespace assay
