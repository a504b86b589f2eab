#include "assay/base/pulses.h"

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <iterator>
#include <sys/socket.h>
#include <sys/time.h>

#include "assay/base/clock.h"
#include "assay/base/keyed_random.h"

namespace assay {
namespace {

// Daemons that keep the time correct it by 500 us a second at most; steps are longer.
constexpr int64_t kStepNs = kNsPerMs;

// So long a sender waits where nobody hears: then somebody is missing a moment.
constexpr int64_t kPatienceNs = 50 * kNsPerMs;
// And so long for an answer: whoever should give it may have been stopped for a while.
constexpr time_t kAnswerSeconds = 10;
constexpr int64_t kAwakeNs = 2 * kNsPerMs;

// In a row; a socket holds ten messages that nobody has heard.
constexpr int kMostEmpty = 64;

// The kernel stamps by the wall clock.
int64_t wall_offset_ns() {
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  return now.tv_sec * kNsPerSecond + now.tv_nsec - monotonic_ns();
}

void send_by(int fd, uint8_t what, std::span<const std::byte> told) {
  iovec pieces[] = {{&what, sizeof what}, {const_cast<std::byte*>(told.data()), told.size()}};
  msghdr header{};
  header.msg_iov = pieces;
  header.msg_iovlen = told.empty() ? 1 : 2;
  (void)::sendmsg(fd, &header, MSG_NOSIGNAL);
}

}  // namespace

void PulseSender::send(uint8_t what, std::span<const std::byte> told) const {
  if (fd_ >= 0) send_by(fd_, what, told);
}

Result<uint64_t> PulseSender::ask(uint8_t what, Wait wait, std::span<const std::byte> told) const {
  if (questions_ < 0) return KeyedRandom::from_system()();
  send_by(questions_, what, told);
  uint64_t number = 0;
  ssize_t got = -1;
  const int64_t until_ns = wait == Wait::awake ? monotonic_ns() + kAwakeNs : 0;
  while (got < 0 && monotonic_ns() < until_ns) {
    timespec own{};
    ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &own);
    got = ::recv(questions_, &number, sizeof number, MSG_TRUNC | MSG_DONTWAIT);
  }
  while (got < 0) {
    got = ::recv(questions_, &number, sizeof number, MSG_TRUNC);
    if (got < 0 && errno != EINTR) break;
  }
  if (got == sizeof number) return number;
  return fail(ErrorCode::machine, "nobody answered what was asked around a burst: {}",
              got < 0 ? errno_text(errno) : "something else was said");
}

void PulseReceiver::answer(uint64_t number) const {
  (void)::send(end_.get(), &number, sizeof number, MSG_NOSIGNAL | MSG_DONTWAIT);
}

Result<std::pair<PulseReceiver, UniqueFd>> PulseReceiver::create_pair() {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
    return fail(ErrorCode::machine, "cannot create a channel: {}", errno_text(errno));
  UniqueFd ours(ends[0]), theirs(ends[1]);
  const int on = 1;
  if (::setsockopt(ours.get(), SOL_SOCKET, SO_TIMESTAMPNS, &on, sizeof on) != 0)
    return fail(ErrorCode::machine, "the system stamps no messages: {}", errno_text(errno));
  const timeval patience{0, kPatienceNs / 1000};
  (void)::setsockopt(theirs.get(), SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
  const timeval answered{kAnswerSeconds, 0};
  (void)::setsockopt(theirs.get(), SOL_SOCKET, SO_RCVTIMEO, &answered, sizeof answered);
  return std::pair(PulseReceiver(std::move(ours)), std::move(theirs));
}

std::optional<Pulse> PulseReceiver::next() {
  Pulse pulse;
  std::array<std::byte, kMostToldBytes> told;
  iovec pieces[] = {{&pulse.what, sizeof pulse.what}, {told.data(), told.size()}};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(timespec))] = {};
  msghdr header{};
  ssize_t got = 0;
  // A message of no bytes tells nothing, and what was told behind it counts. The end of all looks
  // like one, but has no stamp.
  for (int empty = 0; empty < kMostEmpty; ++empty) {
    header.msg_iov = pieces;
    header.msg_iovlen = std::size(pieces);
    header.msg_control = control;
    header.msg_controllen = sizeof control;
    got = end_ ? ::recvmsg(end_.get(), &header, MSG_DONTWAIT) : -1;
    if (got != 0 || header.msg_controllen == 0) break;
  }
  if (got <= 0) return std::nullopt;
  if ((header.msg_flags & MSG_TRUNC) != 0)
    pulse.what = 0;
  else
    pulse.told.assign(told.begin(), told.begin() + (got - 1));
  const int64_t offset = wall_offset_ns();
  pulse.certain = offset_ns_ && std::abs(offset - *offset_ns_) < kStepNs;
  offset_ns_ = offset;
  bool stamped = false;
  for (cmsghdr* part = CMSG_FIRSTHDR(&header); part != nullptr; part = CMSG_NXTHDR(&header, part)) {
    if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_TIMESTAMPNS) continue;
    timespec stamp{};
    std::memcpy(&stamp, CMSG_DATA(part), sizeof stamp);
    pulse.sent_ns = stamp.tv_sec * kNsPerSecond + stamp.tv_nsec - offset;
    stamped = true;
  }
  pulse.certain = pulse.certain && stamped;
  return pulse;
}

}  // namespace assay
