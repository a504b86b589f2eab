#include "assay/net/client.h"

#include <future>
#include <string>
#include <sys/socket.h>
#include <thread>

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>

#include "assay/base/fd.h"

namespace assay::net {
namespace {

constexpr std::string_view kAnswer = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi";

// Takes one connection and speaks before it was asked.
class EagerServer {
 public:
  EagerServer() : listener_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    EXPECT_EQ(::bind(listener_.get(), reinterpret_cast<sockaddr*>(&address), size), 0);
    EXPECT_EQ(::listen(listener_.get(), 1), 0);
    EXPECT_EQ(::getsockname(listener_.get(), reinterpret_cast<sockaddr*>(&address), &size), 0);
    port_ = ntohs(address.sin_port);
    thread_ = std::thread([this] {
      peer_.reset(::accept(listener_.get(), nullptr, nullptr));
      EXPECT_EQ(::send(peer_.get(), kAnswer.data(), kAnswer.size(), MSG_NOSIGNAL),
                std::ssize(kAnswer));
      spoken_.set_value();
    });
  }
  ~EagerServer() { thread_.join(); }
  int port() const { return port_; }
  void await_words() { spoken_.get_future().wait(); }

 private:
  UniqueFd listener_, peer_;
  int port_ = 0;
  std::promise<void> spoken_;
  std::thread thread_;
};

// Sends its request once the server's words lie there unread.
class LateReader final : public ClientHandler {
 public:
  explicit LateReader(EagerServer& server) : server_(server) {}

  Status run() {
    const auto url = parse_url(fmt::format("http://127.0.0.1:{}", server_.port()));
    ASSAY_TRY(client_, Client::create(*url, {}, *this));
    ASSAY_TRY(client_->connect());
    return client_->run();
  }
  const std::string& why() const { return why_; }
  bool answered() const { return answered_; }

  void on_connected(ConnectionId connection) override {
    server_.await_words();
    client_->send(connection, "GET / HTTP/1.1\r\nHost: here\r\n\r\n");
  }
  void on_body(ConnectionId, const ResponseHead&, std::string_view, const Arrival&) override {
    answered_ = true;
  }
  void on_answer(ConnectionId, const ResponseHead&, bool, const Arrival&) override {
    answered_ = true;
    client_->stop();
  }
  void on_closed(ConnectionId, const Error& why, bool, const Arrival&) override {
    why_ = why.message;
    client_->stop();
  }
  void on_time() override {}

 private:
  EagerServer& server_;
  std::unique_ptr<Client> client_;
  std::string why_;
  bool answered_ = false;
};

// An answer that was there before its question is none.
TEST(Client, BytesAheadOfARequestAreNoAnswerToIt) {
  EagerServer server;
  LateReader reader(server);
  const Status ended = reader.run();
  ASSERT_TRUE(ended) << ended.error().message;
  EXPECT_FALSE(reader.answered());
  EXPECT_EQ(reader.why(), "the server sent bytes that nobody asked for");
}

}  // namespace
}  // namespace assay::net
