#include "assay/lab/evaluate/disk_watch.h"

#include <algorithm>
#include <errno.h>
#include <limits>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "assay/base/clock.h"
#include "assay/base/text.h"
#include "assay/lab/files/remove_tree.h"

namespace assay::lab {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kLeastPauseNs = 200 * kNsPerMs;
constexpr std::int64_t kFreePauseNs = kNsPerSecond;  // Beside a clock: one call a folder.
constexpr int kPauseRatio = 20;             // Of a pause to the look before it: 5 % of a core.
constexpr std::uint64_t kEntryBytes = 512;  // Of a file that holds nothing: a full table of names
                                            // stops others as well as a full disk does.
constexpr std::uint64_t kBlock = 512;       // Of stat().

// Of paths that are too long to be looked at: as good as too much.
constexpr std::uint64_t kUncountable = std::uint64_t{1} << 62;

// A file with holes is as large as it says: that is what keeping it would write.
std::uint64_t bytes_of(const struct stat& status) {
  const auto blocks = static_cast<std::uint64_t>(status.st_blocks) * kBlock;
  if (!S_ISREG(status.st_mode)) return blocks;
  return std::max(blocks, static_cast<std::uint64_t>(status.st_size));
}

// A folder that is not there yet takes nothing from any disk.
std::uint64_t free_bytes(const fs::path& folder) {
  std::error_code failed;
  const fs::space_info space = fs::space(folder, failed);
  return failed ? std::numeric_limits<std::uint64_t>::max() : space.free;
}

void raise_event(const UniqueFd& event) {
  const std::uint64_t one = 1;
  [[maybe_unused]] const auto written = ::write(event.get(), &one, sizeof one);
}

}  // namespace

Result<std::unique_ptr<DiskWatch>> DiskWatch::begin(std::vector<fs::path> folders, DiskLimit limit,
                                                    int cancel_fd) {
  std::unique_ptr<DiskWatch> watch(new DiskWatch(std::move(folders), limit));
  watch->cancel_.reset(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  watch->done_.reset(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!watch->cancel_ || !watch->done_)
    return fail(ErrorCode::machine, "cannot make an event: {}", errno_text(errno));
  if (const fs::path full = watch->full_folder(); !full.empty())
    return fail(ErrorCode::machine,
                "the disk of {} has less than {} left, and nothing is started on it: make room",
                sanitize(full.string(), 300), format_bytes(static_cast<double>(limit.reserve)));
  watch->before_ = watch->bytes_below();
  watch->thread_ = std::thread([watch = watch.get(), cancel_fd] { watch->watch(cancel_fd); });
  return watch;
}

DiskWatch::~DiskWatch() {
  raise_event(done_);
  if (thread_.joinable()) thread_.join();
}

std::string DiskWatch::finish() {
  raise_event(done_);
  if (thread_.joinable()) thread_.join();
  for (const fs::path& folder : folders_) make_walkable(folder);
  look(DiskLooks::added_and_free);
  return passed_;
}

std::uint64_t DiskWatch::bytes_below() const {
  std::uint64_t bytes = 0;
  for (const fs::path& folder : folders_) {
    std::error_code failed;
    // What a program put in the place of its folder may lead to all of the machine.
    if (fs::is_symlink(fs::symlink_status(folder, failed))) continue;
    fs::recursive_directory_iterator entry(folder, fs::directory_options::skip_permission_denied,
                                           failed);
    while (!failed && entry != fs::recursive_directory_iterator()) {
      struct stat status {};
      if (::lstat(entry->path().c_str(), &status) == 0)
        bytes += kEntryBytes + bytes_of(status);
      else if (errno == ENAMETOOLONG)
        return kUncountable;
      entry.increment(failed);  // What is removed meanwhile ends this look; the next sees the rest.
    }
  }
  return bytes;
}

fs::path DiskWatch::full_folder() const {
  for (const fs::path& folder : folders_) {
    const auto free = limit_.free_bytes ? limit_.free_bytes(folder) : free_bytes(folder);
    if (free < limit_.reserve) return folder;
  }
  return {};
}

bool DiskWatch::look(DiskLooks looks) {
  const std::uint64_t now = looks == DiskLooks::free_alone ? before_ : bytes_below();
  const bool is_full = !full_folder().empty();
  const std::scoped_lock lock(mutex_);
  if (passed_.empty() && now >= kUncountable)
    passed_ = "made paths that are too long to be looked at";
  if (passed_.empty() && now > before_ + limit_.bytes)
    passed_ = fmt::format("wrote more than {} to the disk",
                          format_bytes(static_cast<double>(limit_.bytes)));
  if (passed_.empty() && is_full)
    passed_ = fmt::format("was ended because the disk has less than {} left",
                          format_bytes(static_cast<double>(limit_.reserve)));
  return !passed_.empty();
}

void DiskWatch::watch(int cancel_fd) {
  for (;;) {
    const std::int64_t began = monotonic_ns();
    const bool passed = look(limit_.looks);
    if (passed) raise_event(cancel_);
    const std::int64_t pause =
        std::max(limit_.looks == DiskLooks::free_alone ? kFreePauseNs : kLeastPauseNs,
                 kPauseRatio * (monotonic_ns() - began));
    pollfd fds[2] = {{done_.get(), POLLIN, 0}, {cancel_fd, POLLIN, 0}};
    const int ready =
        ::poll(fds, cancel_fd >= 0 ? 2 : 1, passed ? -1 : static_cast<int>(pause / kNsPerMs));
    if (ready > 0 && (fds[0].revents & POLLIN) != 0) return;
    if (ready > 0 && cancel_fd >= 0 && (fds[1].revents & POLLIN) != 0) {
      raise_event(cancel_);
      return;
    }
  }
}

}  // namespace assay::lab
