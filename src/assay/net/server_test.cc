#include "assay/net/server.h"

#include <sys/socket.h>

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>

#include "assay/base/clock.h"
#include "assay/base/fd.h"

namespace assay::net {
namespace {

// Begins a stream for each request, and says nothing more.
class SilentStreams final : public Handler {
 public:
  void on_request(ExchangeId exchange, Request) override {
    server->begin(exchange, {200, {{"Content-Type", "text/event-stream"}}, {}});
    server->send(exchange, "data: one\n\n");
  }
  void on_gone(ExchangeId) override {
    gone = true;
    server->stop();
  }
  void on_room(ExchangeId) override {}
  void on_time() override { server->stop(); }
  Response on_refusal(const Refusal& refusal) override { return {refusal.status, {}, {}}; }

  Server* server = nullptr;
  bool gone = false;
};

UniqueFd connected(std::uint16_t port) {
  UniqueFd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  EXPECT_EQ(::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  return fd;
}

// Whether the peer counts as gone before `most_seconds`. FIN: it says that it sends nothing more.
bool is_given_up(bool sends_fin, double most_seconds) {
  SilentStreams handler;
  ServerOptions options;
  options.port = 0;
  options.reader_seconds = 0.1;
  const auto server = Server::listen(options, handler).value();
  handler.server = server.get();
  const UniqueFd peer = connected(server->port());
  EXPECT_TRUE(write_all(peer.get(), std::string_view("GET / HTTP/1.1\r\nHost: a\r\n\r\n")));
  if (sends_fin) ::shutdown(peer.get(), SHUT_WR);
  server->wake_at(monotonic_ns() + static_cast<std::int64_t>(most_seconds * kNsPerSecond));
  server->run();
  return handler.gone;
}

// No write ever tells that it left, and its stream would stay for good.
TEST(Server, APeerThatSentFinIsGivenUpWhereItsStreamIsSilent) {
  EXPECT_TRUE(is_given_up(true, 60));
  EXPECT_FALSE(is_given_up(false, 0.6));
}

}  // namespace
}  // namespace assay::net
