#include "assay/base/message_channel.h"

#include <algorithm>
#include <array>
#include <errno.h>
#include <new>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include "assay/base/json_bytes.h"

namespace assay {
namespace {

constexpr std::size_t kHeaderBytes = 4;
constexpr std::size_t kGrowth = 1 << 20;  // The body's room grows as bytes come, not as announced.
constexpr std::size_t kControlBytes = CMSG_SPACE(kMaxMessageFds * sizeof(int));

tl::unexpected<Error> peer_closed() { return fail(ErrorCode::failed, "peer closed"); }

// Takes ownership of every descriptor that came along, wanted or not.
void take_descriptors(msghdr& header, std::vector<UniqueFd>& fds) {
  for (cmsghdr* part = CMSG_FIRSTHDR(&header); part != nullptr; part = CMSG_NXTHDR(&header, part)) {
    if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS) continue;
    const std::size_t count = (part->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (std::size_t i = 0; i < count; ++i) {
      int fd = -1;
      memcpy(&fd, CMSG_DATA(part) + i * sizeof(int), sizeof fd);
      fds.emplace_back(fd);
    }
  }
}

}  // namespace

Result<std::pair<MessageChannel, UniqueFd>> MessageChannel::create_pair() {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
    return fail(ErrorCode::machine, "cannot create a channel: {}", errno_text(errno));
  }
  return std::pair(MessageChannel(UniqueFd(ends[0])), UniqueFd(ends[1]));
}

Status MessageChannel::send(const Json& message, std::span<const int> fds,
                            std::optional<std::int64_t> deadline_ns) {
  if (broken_) return fail(ErrorCode::failed, "the channel broke in the middle of a message");
  if (!socket_) return fail(ErrorCode::failed, "the channel is closed");
  std::string frame;
  try {
    frame = std::string(kHeaderBytes, '\0') + canonical_bytes(message);
  } catch (const std::bad_alloc&) {
    return fail(ErrorCode::machine, "not enough memory to send a message");
  }
  const std::size_t length = frame.size() - kHeaderBytes;
  if (length > kMaxMessageBytes || fds.size() > kMaxMessageFds) {
    return fail(ErrorCode::invalid_input,
                "a message of {} bytes and {} descriptors is too big ({} and {} at most)", length,
                fds.size(), kMaxMessageBytes, kMaxMessageFds);
  }
  for (std::size_t i = 0; i < kHeaderBytes; ++i) frame[i] = static_cast<char>(length >> (8 * i));

  alignas(cmsghdr) std::array<char, kControlBytes> control{};
  std::size_t sent = 0;
  while (sent < frame.size()) {
    iovec piece{frame.data() + sent, frame.size() - sent};
    msghdr header{};
    header.msg_iov = &piece;
    header.msg_iovlen = 1;
    if (sent == 0 && !fds.empty()) {  // They travel with the first byte.
      header.msg_control = control.data();
      header.msg_controllen = CMSG_SPACE(fds.size_bytes());
      cmsghdr* part = CMSG_FIRSTHDR(&header);
      part->cmsg_level = SOL_SOCKET;
      part->cmsg_type = SCM_RIGHTS;
      part->cmsg_len = CMSG_LEN(fds.size_bytes());
      memcpy(CMSG_DATA(part), fds.data(), fds.size_bytes());
    }
    const ssize_t n = sendmsg(socket_.get(), &header, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (n >= 0) {
      sent += static_cast<std::size_t>(n);
      continue;
    }
    if (errno == EINTR) continue;
    const int number = errno;
    Status problem;
    if (number == EAGAIN) {
      auto ready = wait_for_fd(socket_.get(), POLLOUT, deadline_ns);
      if (ready && *ready) continue;
      problem = ready ? fail(ErrorCode::busy, "the peer did not take the message in time")
                      : fail(std::move(ready.error()));
    } else if (number == EPIPE || number == ECONNRESET) {
      problem = peer_closed();
    } else if (number == EBADF && sent == 0) {
      problem = fail(ErrorCode::invalid_input, "a descriptor to send is not open");
    } else {
      problem = fail(ErrorCode::machine, "cannot send a message: {}", errno_text(number));
    }
    broken_ = sent > 0;
    return problem;
  }
  return {};
}

// Adds to `got` until it is `bytes`.
Status MessageChannel::receive_some(std::byte* into, std::size_t bytes, std::size_t& got,
                                    std::optional<std::int64_t> deadline_ns) {
  while (got < bytes) {
    alignas(cmsghdr) std::array<char, kControlBytes> control;
    iovec piece{into + got, bytes - got};
    msghdr header{};
    header.msg_iov = &piece;
    header.msg_iovlen = 1;
    header.msg_control = control.data();
    header.msg_controllen = control.size();
    const ssize_t n = recvmsg(socket_.get(), &header, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    if (n > 0) {
      got += static_cast<std::size_t>(n);
      take_descriptors(header, fds_);
      if ((header.msg_flags & MSG_CTRUNC) != 0 || fds_.size() > kMaxMessageFds) {
        broken_ = true;
        fds_.clear();
        return fail(ErrorCode::invalid_input, "a message came with more than {} descriptors",
                    kMaxMessageFds);
      }
      continue;
    }
    if (n < 0 && errno == EINTR) continue;
    if (n == 0 || errno == ECONNRESET) {
      if (header_got_ == 0) return peer_closed();
      return fail(ErrorCode::failed, "peer closed in the middle of a message");
    }
    if (errno != EAGAIN) {
      return fail(ErrorCode::machine, "cannot receive a message: {}", errno_text(errno));
    }
    ASSAY_TRY(const bool ready, wait_for_fd(socket_.get(), POLLIN, deadline_ns));
    if (!ready) return fail(ErrorCode::busy, "no message came in time");
  }
  return {};
}

Result<Message> MessageChannel::receive(std::optional<std::int64_t> deadline_ns) {
  if (broken_) return fail(ErrorCode::failed, "the channel broke in the middle of a message");
  if (!socket_) return fail(ErrorCode::failed, "the channel is closed");
  ASSAY_TRY(receive_some(header_, kHeaderBytes, header_got_, deadline_ns));
  std::size_t length = 0;
  for (std::size_t i = 0; i < kHeaderBytes; ++i) {
    length |= static_cast<std::size_t>(header_[i]) << (8 * i);
  }
  if (length == 0 || length > kMaxMessageBytes) {
    broken_ = true;
    fds_.clear();
    return fail(ErrorCode::invalid_input, "the peer announced a message of {} bytes (1 to {})",
                length, kMaxMessageBytes);
  }
  while (body_got_ < length) {
    const std::size_t room = std::min(length, std::max(body_.size(), body_got_ + kGrowth));
    try {
      body_.resize(room);
    } catch (const std::bad_alloc&) {
      broken_ = true;
      return fail(ErrorCode::machine, "not enough memory for a message of {} bytes", length);
    }
    ASSAY_TRY(
        receive_some(reinterpret_cast<std::byte*>(body_.data()), room, body_got_, deadline_ns));
  }
  // The frame is whole: whatever is in it, the next one starts afresh.
  const std::string body = std::exchange(body_, {});
  Message message;
  message.fds = std::exchange(fds_, {});
  header_got_ = body_got_ = 0;
  ASSAY_TRY(message.json, parse_json_bytes(body, "message"));
  return message;
}

}  // namespace assay
