// Frames between our processes: the peer may be a worker that a candidate took over.

#include <sys/socket.h>

#include "assay/base/message_channel.h"
#include "tests/fuzz/fuzz.h"

namespace assay {
namespace {

constexpr size_t kMostBytes = size_t{64} << 10;  // As many as a socket holds without a reader.

void expect_sent_alike(const Json& json) {
  auto pair = MessageChannel::create_pair();
  if (!pair) return;
  MessageChannel peer(std::move(pair->second));
  if (!pair->first.send(json)) return fuzz::broken("a message that came in cannot be sent");
  const auto again = peer.receive();
  if (fuzz::is_read_again(again)) fuzz::expect_same(again->json, json, "a message changes");
}

}  // namespace

ASSAY_FUZZ_TARGET(message) {
  auto pair = MessageChannel::create_pair();
  if (!pair) return;
  bytes = bytes.substr(0, kMostBytes);
  if (!bytes.empty() && ::send(pair->second.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL) < 0)
    return;
  pair->second.reset();
  // A frame takes four bytes at least.
  for (size_t left = bytes.size() / 4 + 1; left > 0; --left) {
    const auto message = pair->first.receive();
    if (!message && message.error().code != ErrorCode::invalid_input) return;
    if (fuzz::is_read(message)) expect_sent_alike(message->json);
  }
  fuzz::expect(!pair->first.receive(), "more messages than bytes");
}

}  // namespace assay
