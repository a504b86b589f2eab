#pragma once

// Files as we read and write them: bounded reads, atomic replacement, append-only journals, locks.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "assay/base/fd.h"
#include "assay/base/result.h"

namespace assay {

inline constexpr std::size_t kMaxFileBytes = 256ull << 20;

// The bytes of a regular file. A directory, FIFO, socket or device is an error (invalid_input),
// never a hang; so is a file beyond max_bytes. An absent file is not_found.
Result<std::string> read_file(const std::string& path, std::size_t max_bytes = kMaxFileBytes);

// The same in blocks, for files that need not be in memory whole; of any size.
Status read_file_in_blocks(const std::string& path,
                           const std::function<Status(std::span<const std::byte>)>& take);
// SHA-256 (hex) of a file's bytes, read so.
Result<std::string> sha256_of_file(const std::string& path);

// Replaces `path` so that every reader, and every crash, finds the old text or the new one whole:
// temporary file beside it, fsync, rename, fsync of the folder. The temporary is removed on
// failure. A full disk is ErrorCode::machine. An existing file keeps its permissions; others get
// 0666 & ~umask.
Status write_file_atomic(const std::string& path, std::string_view text);

// The same for text that arrives in pieces.
class AtomicFile {
 public:
  static Result<AtomicFile> create(const std::string& path);
  AtomicFile(AtomicFile&& other) noexcept;
  AtomicFile& operator=(AtomicFile&& other) noexcept;
  ~AtomicFile();  // What was not committed is removed, and the old file is as it was.

  Status write(std::string_view text);
  Status commit();

 private:
  AtomicFile() = default;
  Status put(std::string_view text);
  Status flush();

  UniqueFd fd_;
  std::string path_, target_;  // As given, and what it links to.
  std::string temporary_;      // Empty once it is gone.
  std::string waiting_;        // Not written yet.
};

// A file that only grows by whole lines.
class AppendFile {
 public:
  // Creates the file if need be. fsync_each: a line is on the disk when append_line returns.
  static Result<AppendFile> open(const std::string& path, bool fsync_each);

  enum class Durable {
    now,        // As the file was opened.
    with_next,  // Not before the next line that is.
  };
  // Writes `line` and a newline, which `line` itself must not contain. If only a part could be
  // written (disk full), that part is cut off again, so that the file still ends with a whole line.
  Status append_line(std::string_view line, Durable durable = Durable::now);
  Status sync();
  // Cuts the file to `bytes`: for the torn last line that a crash leaves.
  Status truncate(std::uint64_t bytes);
  Result<std::uint64_t> size() const;
  const std::string& path() const { return path_; }

 private:
  UniqueFd fd_;
  std::string path_;
  bool fsync_each_ = false;
};

// Reads a file line by line, from any place where a line begins.
class LineReader {
 public:
  static constexpr std::size_t kMostLineBytes = kMaxFileBytes;

  // Errors as read_file.
  static Result<LineReader> open(const std::string& path, std::uint64_t from = 0);

  struct Line {
    std::string_view text;  // Without its newline. Valid until the next call.
    std::uint64_t at = 0;   // Where in the file it begins.
    bool whole = true;      // False for a last line without a newline.
  };
  Result<std::optional<Line>> next();  // None at the end.

 private:
  Line take(std::size_t size, bool whole);

  UniqueFd fd_;
  std::string path_;
  std::string buffer_;
  std::size_t used_ = 0;    // Of the buffer: the line handed out last.
  std::uint64_t next_ = 0;  // Where the rest of the buffer begins in the file.
  bool ended_ = false;
};

// Mutual exclusion between processes (and between two locks of one process), by flock(2): the
// kernel lets go when the holder dies. The file stays behind, which is harmless.
class FileLock {
 public:
  // ErrorCode::busy, with the holder's pid, command and since when, if somebody else holds it.
  // `command` is what others will read about us; empty means this process's own command line.
  static Result<FileLock> try_lock(const std::string& path, std::string_view command = {});

  struct Wait {
    std::optional<std::int64_t> deadline_ns;  // Of monotonic_ns(); none waits for ever.
    // Called about every 50 ms with the sentence that says who holds the lock; false gives up with
    // ErrorCode::interrupted.
    std::function<bool(std::string_view holder)> keep_waiting;
  };
  static Result<FileLock> lock(const std::string& path, const Wait& wait,
                               std::string_view command = {});

  FileLock(FileLock&&) noexcept = default;
  FileLock& operator=(FileLock&& other) noexcept;
  ~FileLock() { release(); }
  void release();

 private:
  explicit FileLock(UniqueFd fd) : fd_(std::move(fd)) {}
  UniqueFd fd_;
};

// The folder and its parents; fine if it is there already.
Status make_directories(const std::string& path);

// A new folder, private to the user, removed with everything in it (links are not followed).
class TemporaryDirectory {
 public:
  // Under `parent`, named `prefix` and six random characters.
  static Result<TemporaryDirectory> create(const std::string& parent = "/tmp",
                                           const std::string& prefix = "assay-");
  TemporaryDirectory(TemporaryDirectory&& other) noexcept;
  TemporaryDirectory& operator=(TemporaryDirectory&& other) noexcept;
  ~TemporaryDirectory();

  const std::string& path() const { return path_; }
  std::string file(std::string_view name) const;  // path/name
  std::string release();                          // Keeps the folder; returns its path.

 private:
  explicit TemporaryDirectory(std::string path) : path_(std::move(path)) {}
  std::string path_;
};

}  // namespace assay
