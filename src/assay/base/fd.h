#pragma once

// Owned file descriptors, memory files and mappings. Everything opened here is close-on-exec.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "assay/base/result.h"

namespace assay {

class UniqueFd {
 public:
  UniqueFd() = default;
  explicit UniqueFd(int fd) : fd_(fd) {}
  ~UniqueFd() { reset(); }
  UniqueFd(UniqueFd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  UniqueFd& operator=(UniqueFd&& other) noexcept {
    if (this != &other) reset(std::exchange(other.fd_, -1));
    return *this;
  }

  int get() const { return fd_; }
  bool valid() const { return fd_ >= 0; }
  explicit operator bool() const { return valid(); }
  int release() { return std::exchange(fd_, -1); }
  void reset(int fd = -1);  // Closes the present one. Leaves errno alone.
  Result<UniqueFd> duplicate() const;

 private:
  int fd_ = -1;
};

// "No such file or directory"; thread-safe.
std::string errno_text(int error_number);

// Writes what fits; 0 if the descriptor would block. A reader that went away is ErrorCode::failed,
// never a SIGPIPE. Disk full is ErrorCode::machine.
Result<std::size_t> write_some(int fd, std::span<const std::byte> bytes);

// Writes all of `bytes`, over interruptions and partial writes, waiting where the descriptor would
// block. Errors as write_some.
Status write_all(int fd, std::span<const std::byte> bytes);
Status write_all(int fd, std::string_view text);

// Waits until `fd` is ready for `events` (POLLIN, POLLOUT) or has failed; false if `deadline_ns`
// (of monotonic_ns()) passes first.
Result<bool> wait_for_fd(int fd, short events, std::optional<std::int64_t> deadline_ns);

// A memory file with these bytes that nobody can change any more (sealed against writing, shrinking
// and growing).
Result<UniqueFd> create_sealed_memfd(const std::string& name, std::span<const std::byte> bytes);
// A zeroed memory file of fixed size that can be written: sealed against shrinking and growing, so
// that a peer cannot make our mapping fault.
Result<UniqueFd> create_memfd(const std::string& name, std::size_t bytes);

// What to demand of a memory file that a peer sent before mapping it.
enum class Seal {
  none,        // Ours, or a file on disk.
  fixed_size,  // Cannot shrink: touching the mapping cannot raise SIGBUS.
  unchanging,  // Fixed size, and its content can never change.
};

class MappedFile {
 public:
  // Maps the whole file, shared. The mapping outlives `fd`. An empty file is an empty mapping.
  static Result<MappedFile> map_read_only(int fd, Seal demanded = Seal::none);
  static Result<MappedFile> map_read_write(int fd, Seal demanded = Seal::none);

  MappedFile() = default;
  ~MappedFile();
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;

  std::span<const std::byte> bytes() const { return {data_, size_}; }
  std::span<std::byte> writable_bytes();  // Empty for a read-only mapping.
  std::size_t size() const { return size_; }

 private:
  static Result<MappedFile> map(int fd, Seal demanded, bool writable);

  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
  bool writable_ = false;
};

// Bytes in a memory file of their own: written by their maker, then sealed, from when on nobody can
// change them, their maker included, so that others may be given the file instead of a copy.
class MemoryFile {
 public:
  MemoryFile() = default;  // No bytes, and no file.
  static Result<MemoryFile> create(const std::string& name, std::size_t bytes);  // Zeros.

  std::span<std::byte> writable_bytes() { return mapped_.writable_bytes(); }  // Sealed: empty.
  std::span<const std::byte> bytes() const { return mapped_.bytes(); }
  Status seal();  // What bytes() gave before is void.
  Result<UniqueFd> file() const { return fd_.duplicate(); }

 private:
  UniqueFd fd_;
  MappedFile mapped_;
};

}  // namespace assay
