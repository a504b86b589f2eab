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
  if (!soon_ || waiting_.size() > kMostWaiting) return write();
  if (first) soon_([this] { write(); });
}

void LineFile::append_later(std::function<std::string()> make) {
  if (!soon_) return append(make());
  unmade_.push_back(std::move(make));
  if (unmade_.size() == 1) soon_([this] { make_one(); });
}

void LineFile::make_one() {
  if (unmade_.empty()) return;  // A flush came first.
  append(unmade_.front()());
  unmade_.pop_front();
  if (!unmade_.empty()) soon_([this] { make_one(); });
}

void LineFile::flush() {
  for (; !unmade_.empty(); unmade_.pop_front()) waiting_.append(unmade_.front()()) += '\n';
  write();
}

void LineFile::write() {
  if (waiting_.empty()) return;
  const Status written = file_parts::append_whole(fd_.get(), path_, waiting_);
  waiting_.clear();
  if (written || !lost_) return;
  lost_(written.error());
  lost_ = nullptr;
}

}  // namespace assay
