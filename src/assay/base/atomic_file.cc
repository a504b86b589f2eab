// Files that appear whole or not at all.

#include <errno.h>
#include <fcntl.h>
#include <memory>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "assay/base/file.h"
#include "assay/base/file_parts.h"
#include "assay/base/hash.h"
#include "assay/base/random.h"

namespace assay {

using namespace file_parts;  // NOLINT: our own helpers.

namespace {

constexpr std::size_t kWriteBytes = 64 << 10;

// A link is written through, not replaced.
std::string final_target(const std::string& path) {
  struct stat facts {};
  if (lstat(path.c_str(), &facts) != 0 || !S_ISLNK(facts.st_mode)) return path;
  const std::unique_ptr<char, decltype(&free)> real(realpath(path.c_str(), nullptr), &free);
  return real ? real.get() : path;
}

}  // namespace

Result<AtomicFile> AtomicFile::create(const std::string& path) {
  ASSAY_TRY(check_path(path));
  AtomicFile file;
  file.path_ = path;
  file.target_ = final_target(path);
  struct stat facts {};
  const bool exists = stat(file.target_.c_str(), &facts) == 0;
  if (exists) ASSAY_TRY(check_regular(facts, path));
  if (exists && access(file.target_.c_str(), W_OK) != 0) return system_error("write", path, errno);
  ASSAY_TRY(const SecretSeed noise, secret_seed());
  const std::string name = fmt::format("{}/.assay-{}.tmp", folder_of(file.target_),
                                       to_hex(std::span<const std::uint8_t>(noise).first(8)));
  const mode_t mode = exists ? facts.st_mode & 07777 : 0666;
  file.fd_.reset(::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode));
  if (!file.fd_) return system_error("write", path, errno);
  file.temporary_ = name;
  if (exists && fchmod(file.fd_.get(), mode) != 0) return system_error("write", path, errno);
  return file;
}

AtomicFile::AtomicFile(AtomicFile&& other) noexcept
    : fd_(std::move(other.fd_)),
      path_(std::move(other.path_)),
      target_(std::move(other.target_)),
      temporary_(std::exchange(other.temporary_, {})),
      waiting_(std::move(other.waiting_)) {}

AtomicFile& AtomicFile::operator=(AtomicFile&& other) noexcept {
  std::swap(fd_, other.fd_);
  std::swap(path_, other.path_);
  std::swap(target_, other.target_);
  std::swap(temporary_, other.temporary_);
  std::swap(waiting_, other.waiting_);
  return *this;
}

AtomicFile::~AtomicFile() {
  if (!temporary_.empty()) unlink(temporary_.c_str());
}

Status AtomicFile::put(std::string_view text) {
  if (auto written = write_all(fd_.get(), text); !written) {
    return fail(with_context(written.error(), fmt::format("writing '{}'", shown(path_))));
  }
  return {};
}

Status AtomicFile::flush() {
  ASSAY_TRY(put(waiting_));
  waiting_.clear();
  return {};
}

Status AtomicFile::write(std::string_view text) {
  if (waiting_.size() + text.size() >= kWriteBytes) ASSAY_TRY(flush());
  if (text.size() >= kWriteBytes) return put(text);
  waiting_ += text;
  return {};
}

Status AtomicFile::commit() {
  ASSAY_TRY(flush());
  if (fsync(fd_.get()) != 0) return system_error("sync", path_, errno);
  if (::close(fd_.release()) != 0) return system_error("close", path_, errno);
  if (rename(temporary_.c_str(), target_.c_str()) != 0)
    return system_error("replace", path_, errno);
  temporary_.clear();
  return sync_folder(folder_of(target_));
}

Status write_file_atomic(const std::string& path, std::string_view text) {
  ASSAY_TRY(AtomicFile file, AtomicFile::create(path));
  ASSAY_TRY(file.write(text));
  return file.commit();
}

}  // namespace assay
