#include "assay/base/queue_ticket.h"

#include <cerrno>
#include <fcntl.h>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "assay/base/lock_file.h"

namespace assay {
namespace {

constexpr std::int64_t kEndless = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kHighest = std::int64_t{1} << 62;  // So that no sum of numbers overflows.
constexpr int kMostCounted = 1000;  // Somebody hostile may hold any number of tickets.

// A lock of bytes [first, last].
struct flock lock_of(std::int64_t first, std::int64_t last, short type = F_WRLCK) {
  struct flock lock {};
  lock.l_type = type;
  lock.l_whence = SEEK_SET;
  lock.l_start = first;
  lock.l_len = last == kEndless ? 0 : last - first + 1;
  return lock;
}

struct Range {
  std::int64_t first = 1, last = kEndless;
};

// Some ticket of others within these numbers; none where there is none.
std::optional<Range> find_held(int fd, const Range& within) {
  struct flock lock = lock_of(within.first, within.last);
  if (::fcntl(fd, F_OFD_GETLK, &lock) != 0 || lock.l_type == F_UNLCK) return std::nullopt;
  const std::int64_t end = lock.l_len == 0 ? kEndless : lock.l_start + lock.l_len - 1;
  return Range{lock.l_start, end};
}

// Above every ticket that is held all the while: each step leaves out what lies below one. 0 where
// somebody holds all numbers there are.
std::int64_t next_number(int fd) {
  std::int64_t next = 1;
  while (const auto held = find_held(fd, {next, kEndless})) {
    if (held->last >= kHighest) return 0;
    next = held->last + 1;
  }
  return next;
}

// The kernel names one lock of a range at a time.
int count_held(int fd, const Range& range) {
  std::vector<Range> left = {range};
  int count = 0;
  while (!left.empty() && count < kMostCounted) {
    const Range within = left.back();
    left.pop_back();
    if (within.first > within.last) continue;
    const auto held = find_held(fd, within);
    if (!held) continue;
    ++count;
    left.push_back({within.first, held->first - 1});
    left.push_back({held->last + 1, within.last});
  }
  return count;
}

}  // namespace

Result<QueueTicket> QueueTicket::take(const std::string& path) {
  ASSAY_TRY(UniqueFd fd, open_lock_file(path));
  // A file that may only be read takes the other kind: two of its users may share a number.
  const bool writable = (::fcntl(fd.get(), F_GETFL) & O_ACCMODE) == O_RDWR;
  while (true) {
    const std::int64_t number = next_number(fd.get());
    if (number == 0) return QueueTicket(std::move(fd), 0);
    struct flock lock = lock_of(number, number, writable ? F_WRLCK : F_RDLCK);
    if (::fcntl(fd.get(), F_OFD_SETLK, &lock) == 0) return QueueTicket(std::move(fd), number);
    // Somebody was quicker.
    if (errno == EAGAIN || errno == EACCES || errno == EINTR) continue;
    return QueueTicket(std::move(fd), 0);
  }
}

int QueueTicket::ahead() const { return count_held(fd_.get(), {1, number_ - 1}); }

}  // namespace assay
