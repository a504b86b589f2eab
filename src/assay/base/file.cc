#include "assay/base/file.h"

#include <algorithm>
#include <errno.h>
#include <fcntl.h>
#include <filesystem>
#include <new>
#include <stdlib.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>
#include <vector>

#include "assay/base/file_parts.h"
#include "assay/base/hash.h"
#include "assay/base/text.h"

namespace assay {

using namespace file_parts;  // NOLINT: our own helpers.

namespace {
constexpr std::size_t kBlockBytes = 256 << 10;
}

Result<std::string> read_file(const std::string& path, std::size_t max_bytes) {
  ASSAY_TRY(const UniqueFd fd, open_regular(path, O_RDONLY, "read"));
  struct stat facts {};
  if (fstat(fd.get(), &facts) != 0) return system_error("read", path, errno);
  const auto too_big = [&] {
    return fail(ErrorCode::invalid_input, "'{}' is larger than {}, the most that is read",
                shown(path), format_bytes(static_cast<double>(max_bytes)));
  };
  const auto announced = static_cast<std::size_t>(facts.st_size);
  if (announced > max_bytes) return too_big();
  try {
    // The announced size is a hint: files in /proc say 0, and others may grow meanwhile.
    std::string text;
    std::size_t got = 0;
    while (true) {
      if (got == text.size()) text.resize(std::max({announced + 1, 2 * got, std::size_t{4096}}));
      const ssize_t n = ::read(fd.get(), text.data() + got, text.size() - got);
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) return system_error("read", path, errno);
      if (n == 0) break;
      got += static_cast<std::size_t>(n);
      if (got > max_bytes) return too_big();
    }
    text.resize(got);
    return text;
  } catch (const std::bad_alloc&) {
    return fail(ErrorCode::machine, "not enough memory to read '{}'", shown(path));
  }
}

Status read_file_in_blocks(const std::string& path,
                           const std::function<Status(std::span<const std::byte>)>& take) {
  ASSAY_TRY(const UniqueFd fd, open_regular(path, O_RDONLY, "read"));
  std::vector<std::byte> block(kBlockBytes);
  while (true) {
    const ssize_t n = ::read(fd.get(), block.data(), block.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return system_error("read", path, errno);
    if (n == 0) return {};
    ASSAY_TRY(take(std::span<const std::byte>(block).first(static_cast<std::size_t>(n))));
  }
}

Result<std::string> sha256_of_file(const std::string& path) {
  Sha256 hash;
  ASSAY_TRY(read_file_in_blocks(path, [&](std::span<const std::byte> block) {
    hash.update(block);
    return Status();
  }));
  return hash.hex();
}

Status make_directories(const std::string& path) {
  ASSAY_TRY(check_path(path));
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (error) return system_error("create folder", path, error.value());
  if (!std::filesystem::is_directory(path, error)) {
    return fail(ErrorCode::invalid_input, "'{}' is there, but is not a folder", shown(path));
  }
  return {};
}

Result<TemporaryDirectory> TemporaryDirectory::create(const std::string& parent,
                                                      const std::string& prefix) {
  ASSAY_TRY(check_path(parent));
  if (!prefix.empty() && !matches_name_rule(prefix)) {
    return fail(ErrorCode::invalid_input, "'{}' cannot start a folder's name", shown(prefix));
  }
  std::string path = fmt::format("{}/{}XXXXXX", parent, prefix);
  if (mkdtemp(path.data()) == nullptr) {
    return system_error("create a temporary folder in", parent, errno);
  }
  return TemporaryDirectory(std::move(path));
}

TemporaryDirectory::TemporaryDirectory(TemporaryDirectory&& other) noexcept
    : path_(std::exchange(other.path_, {})) {}

TemporaryDirectory& TemporaryDirectory::operator=(TemporaryDirectory&& other) noexcept {
  std::swap(path_, other.path_);
  return *this;
}

TemporaryDirectory::~TemporaryDirectory() {
  if (path_.empty()) return;
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::string TemporaryDirectory::file(std::string_view name) const {
  return fmt::format("{}/{}", path_, name);
}

std::string TemporaryDirectory::release() { return std::exchange(path_, {}); }

}  // namespace assay
