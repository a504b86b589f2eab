#pragma once

// Messages between our own processes: JSON with descriptors attached, over a Unix stream socket. A
// frame is its length (4 bytes, little endian) and that many bytes of JSON. The peer may be
// hostile: it can make receive() fail, but not hang beyond the deadline, nor take more memory than
// it sent.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "assay/base/fd.h"
#include "assay/base/json.h"
#include "assay/base/result.h"

namespace assay {

inline constexpr std::size_t kMaxMessageBytes = 64ull << 20;
inline constexpr std::size_t kMaxMessageFds = 64;

struct Message {
  Json json;
  std::vector<UniqueFd> fds;
};

class MessageChannel {
 public:
  // Our end, and the one to hand to a child (SubprocessOptions::extra_fds).
  static Result<std::pair<MessageChannel, UniqueFd>> create_pair();
  explicit MessageChannel(UniqueFd socket) : socket_(std::move(socket)) {}

  // Blocks while the peer does not read, until `deadline_ns` (of monotonic_ns()). The descriptors
  // are duplicated: ours stay open. Errors: failed "peer closed", busy (deadline), invalid_input
  // (too big). After a failure in the middle of a message the channel refuses every other call.
  Status send(const Json& message, std::span<const int> fds = {},
              std::optional<std::int64_t> deadline_ns = std::nullopt);

  // The next message. Errors: busy when the deadline passes (call again: a message that has half
  // arrived is kept); failed "peer closed" at the end; invalid_input for what is no message, after
  // which the channel is of no use, except that after bad JSON in a good frame the next frame can
  // be read.
  Result<Message> receive(std::optional<std::int64_t> deadline_ns = std::nullopt);

  int fd() const { return socket_.get(); }  // For poll(); -1 once closed.
  void close() { socket_.reset(); }

 private:
  Status receive_some(std::byte* into, std::size_t bytes, std::size_t& got,
                      std::optional<std::int64_t> deadline_ns);

  UniqueFd socket_;
  bool broken_ = false;
  // The message that is arriving.
  std::byte header_[4] = {};
  std::size_t header_got_ = 0;
  std::string body_;
  std::size_t body_got_ = 0;
  std::vector<UniqueFd> fds_;
};

}  // namespace assay
