#include "assay/net/server.h"

#include <string>
#include <sys/socket.h>
#include <vector>

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

// Answers the requests of its peers, who finish their bodies once one of them was refused.
class Answers final : public Handler {
 public:
  void on_request(ExchangeId exchange, Request request) override {
    bodies.push_back(request.body.size());
    server->answer(exchange, {200, {}, {}});
    if (bodies.size() == 2) return server->stop();
    peers.push_back(connected(server->port()));
    EXPECT_TRUE(write_all(peers.back().get(), head + std::string(800, 'a')));
  }
  void on_gone(ExchangeId) override {}
  void on_room(ExchangeId) override {}
  void on_time() override { server->stop(); }
  Response on_refusal(const Refusal& refusal) override {
    refused.push_back(refusal.status);
    for (const UniqueFd& peer : peers) EXPECT_TRUE(write_all(peer.get(), std::string(200, 'a')));
    return {refusal.status, {}, {}};
  }

  const std::string head = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 800\r\n\r\n";
  Server* server = nullptr;
  std::vector<UniqueFd> peers;
  std::vector<std::size_t> bodies;
  std::vector<int> refused;
};

// Of two bodies that are too much together one is refused; what the other and a later one take is
// counted no longer than it is held.
TEST(Server, BodiesThatCameInPartAreBoundedTogether) {
  Answers handler;
  ServerOptions options;
  options.port = 0;
  options.unfinished_bytes = 1000;
  const auto server = Server::listen(options, handler).value();
  handler.server = server.get();
  for (int i = 0; i < 2; ++i) {
    handler.peers.push_back(connected(server->port()));
    EXPECT_TRUE(write_all(handler.peers.back().get(), handler.head + std::string(600, 'a')));
  }
  server->wake_at(monotonic_ns() + 60 * kNsPerSecond);
  server->run();
  EXPECT_EQ(handler.refused, std::vector<int>{503});
  EXPECT_EQ(handler.bodies, (std::vector<std::size_t>{800, 800}));
}

}  // namespace
}  // namespace assay::net
