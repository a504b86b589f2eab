#include "assay/base/line_file.h"

#include <fcntl.h>
#include <utility>

#include "assay/base/file_parts.h"

namespace assay {
namespace {

constexpr std::size_t kMostWaiting = 256 << 10;

}  // namespace

Result<LineFile> LineFile::open(const std::string& path) {
  LineFile file;
  ASSAY_TRY(file.fd_, file_parts::open_regular(path, O_WRONLY | O_CREAT | O_APPEND, "open"));
  file.path_ = path;
  return file;
}

void LineFile::append(std::string_view line) {
  const bool first = waiting_.empty();
  waiting_.append(line) += '\n';
  if (!soon_ || waiting_.size() > kMostWaiting) return flush();
  if (first) soon_([this] { flush(); });
}

void LineFile::flush() {
  if (waiting_.empty()) return;
  const Status written = file_parts::append_whole(fd_.get(), path_, waiting_);
  waiting_.clear();
  if (written || !lost_) return;
  lost_(written.error());
  lost_ = nullptr;
}

}  // namespace assay
