#include "assay/net/server.h"

#include <algorithm>
#include <chrono>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>

#include "assay/base/clock.h"
#include "assay/base/text.h"
#include "assay/net/connection.h"
#include "assay/net/open_call.h"

namespace assay::net {
namespace {

namespace asio = boost::asio;
using Code = boost::system::error_code;
using asio::ip::tcp;

constexpr auto kLook = std::chrono::milliseconds(100);         // For deadlines that have passed.
constexpr auto kAcceptPause = std::chrono::milliseconds(100);  // When there is no descriptor left.
constexpr std::size_t kRequestReadBytes = 64 << 10;
constexpr std::size_t kMostTurnedAway = 32;  // Connections beyond the limit that are told so.

std::chrono::steady_clock::time_point at(std::int64_t ns) {
  return std::chrono::steady_clock::time_point(std::chrono::nanoseconds(ns));
}

}  // namespace

class Server::Impl final : public Host {
 public:
  Impl(const ServerOptions& options, Handler& handler) : options_(options), handler_(handler) {}

  Status listen() {
    Code error;
    const auto address =
        asio::ip::make_address(options_.host == "localhost" ? "127.0.0.1" : options_.host, error);
    if (error)
      return fail(assay::ErrorCode::invalid_input,
                  "'{}' is no address: give one such as 127.0.0.1 or ::1",
                  sanitize(options_.host, 80));
    const tcp::endpoint endpoint(address, options_.port);
    acceptor_.open(endpoint.protocol(), error);
    if (!error) acceptor_.set_option(tcp::acceptor::reuse_address(true), error);
    if (!error) acceptor_.bind(endpoint, error);
    if (!error) acceptor_.listen(tcp::acceptor::max_listen_connections, error);
    if (!error) acceptor_.non_blocking(true, error);
    if (!error) port_ = acceptor_.local_endpoint(error).port();
    if (error)
      return fail(assay::ErrorCode::machine,
                  "cannot listen on {} port {} ({}): choose another port, or 0 for a free one",
                  options_.host, options_.port, error.message());
    return {};
  }

  void run() {
    accept();
    look_at_deadlines();
    context_.run();
  }

  void stop() { context_.stop(); }

  void drain(double seconds) {
    draining_ = true;
    drained_ns_ = monotonic_ns() + static_cast<std::int64_t>(seconds * kNsPerSecond);
    for (const auto& connection : all()) connection->drain();
  }

  bool at_rest() const {
    return std::ranges::all_of(connections_,
                               [](const auto& entry) { return entry.second->at_rest(); });
  }

  void wake_at(std::int64_t at_ns) {
    if (wake_ns_ == at_ns) return;
    if (at_ns <= monotonic_ns()) return wake_soon();
    wake_ns_ = at_ns;
    wake_.expires_at(at(at_ns));
    wake_.async_wait([this](const Code& error) {
      if (error) return;
      wake_ns_ = 0;
      handler_.on_time();
    });
  }

  // What is due needs no timer, which costs two system calls.
  void wake_soon() {
    if (std::exchange(wakes_soon_, true)) return;
    asio::post(context_, [this] {
      wakes_soon_ = false;
      handler_.on_time();
    });
  }

  void watch(int fd, std::function<void()> readable) {
    watched_.push_back(std::make_unique<asio::posix::stream_descriptor>(context_, fd));
    watch_again(*watched_.back(), std::move(readable));
  }

  void soon(std::function<void()> act) { asio::post(context_, std::move(act)); }

  std::shared_ptr<Connection> find(ExchangeId exchange) const {
    const auto found = exchanges_.find(exchange);
    return found == exchanges_.end() ? nullptr : found->second;
  }

  std::uint16_t port() const { return port_; }

  CallId call(std::uint16_t port, std::string request, double seconds, CallHandler& by) {
    const CallId id = ++last_call_;
    const auto made = std::make_shared<OpenCall>(context_, id, by, read_buffer_,
                                                 [this](CallId ended) { calls_.erase(ended); });
    calls_.emplace(id, made);
    made->start(port, std::move(request), seconds);
    return id;
  }
  std::shared_ptr<OpenCall> find_call(CallId id) const {
    const auto found = calls_.find(id);
    return found == calls_.end() ? nullptr : found->second;
  }

  // A descriptor that was watched is its owner's.
  ~Impl() override {
    for (const auto& descriptor : watched_) descriptor->release();
    exchanges_.clear();
    connections_.clear();
    calls_.clear();
  }

 private:
  const ServerOptions& options() const override { return options_; }
  bool draining() const override { return draining_; }
  std::size_t& unfinished_bytes() override { return unfinished_bytes_; }
  std::string& read_buffer() override { return read_buffer_; }
  std::string& joined() override { return joined_; }
  Handler& handler() override { return handler_; }

  ExchangeId opened(const std::shared_ptr<Connection>& connection) override {
    exchanges_.emplace(++last_exchange_, connection);
    return last_exchange_;
  }
  void ended(ExchangeId exchange) override { exchanges_.erase(exchange); }
  void closed(Connection& connection) override { connections_.erase(&connection); }

  std::vector<std::shared_ptr<Connection>> all() const {
    std::vector<std::shared_ptr<Connection>> connections;
    connections.reserve(connections_.size());
    for (const auto& entry : connections_) connections.push_back(entry.second);
    return connections;
  }

  void accept() {
    acceptor_.async_accept([this](const Code& error, tcp::socket socket) {
      if (error) return accept_later();
      take(std::move(socket));
      accept();
    });
  }

  void accept_later() {
    pause_.expires_after(kAcceptPause);
    pause_.async_wait([this](const Code& error) {
      if (!error) accept();
    });
  }

  void take(tcp::socket socket) {
    const auto limit = static_cast<std::size_t>(options_.connections);
    if (connections_.size() >= limit + kMostTurnedAway) return;
    const bool full = connections_.size() >= limit;
    const auto connection = std::make_shared<Connection>(std::move(socket), *this);
    connections_.emplace(connection.get(), connection);
    if (full)
      connection->refuse({503, "This server has as many connections as it takes."});
    else
      connection->start();
  }

  void look_at_deadlines() {
    look_.expires_after(kLook);
    look_.async_wait([this](const Code& error) {
      if (error) return;
      const std::int64_t now = monotonic_ns();
      due_.clear();
      for (const auto& entry : connections_)
        if (entry.second->is_due(now)) due_.push_back(entry.second);
      for (const auto& connection : due_) connection->meet_deadline();
      due_.clear();
      if (draining_ && (at_rest() || now >= drained_ns_)) return stop();
      look_at_deadlines();
    });
  }

  void watch_again(asio::posix::stream_descriptor& descriptor, std::function<void()> readable) {
    descriptor.async_wait(
        asio::posix::stream_descriptor::wait_read,
        [this, &descriptor, readable = std::move(readable)](const Code& error) mutable {
          if (error) return;
          readable();
          watch_again(descriptor, std::move(readable));
        });
  }

  ServerOptions options_;
  Handler& handler_;
  asio::io_context context_{1};
  tcp::acceptor acceptor_{context_};
  asio::steady_timer wake_{context_}, pause_{context_}, look_{context_};
  std::int64_t wake_ns_ = 0;  // 0: nobody is to be woken.
  bool wakes_soon_ = false;
  std::uint16_t port_ = 0;
  bool draining_ = false;
  std::size_t unfinished_bytes_ = 0;
  std::int64_t drained_ns_ = 0;  // When a drain ends at the latest.
  ExchangeId last_exchange_ = 0;
  std::string read_buffer_ = std::string(kRequestReadBytes, '\0');
  std::string joined_;
  std::unordered_map<const Connection*, std::shared_ptr<Connection>> connections_;
  std::unordered_map<ExchangeId, std::shared_ptr<Connection>> exchanges_;
  CallId last_call_ = 0;
  std::unordered_map<CallId, std::shared_ptr<OpenCall>> calls_;
  std::vector<std::shared_ptr<Connection>> due_;
  std::vector<std::unique_ptr<asio::posix::stream_descriptor>> watched_;
};

Server::Server(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Server::~Server() = default;

Result<std::unique_ptr<Server>> Server::listen(const ServerOptions& options, Handler& handler) {
  auto impl = std::make_unique<Impl>(options, handler);
  ASSAY_TRY(impl->listen());
  return std::unique_ptr<Server>(new Server(std::move(impl)));
}

std::uint16_t Server::port() const { return impl_->port(); }
void Server::run() { impl_->run(); }
void Server::stop() { impl_->stop(); }
void Server::drain(double seconds) { impl_->drain(seconds); }
bool Server::at_rest() const { return impl_->at_rest(); }
void Server::wake_at(std::int64_t at_ns) { impl_->wake_at(at_ns); }
void Server::watch(int fd, std::function<void()> readable) {
  impl_->watch(fd, std::move(readable));
}
void Server::soon(std::function<void()> act) { impl_->soon(std::move(act)); }

void Server::answer(ExchangeId exchange, const Response& response) {
  if (const auto connection = impl_->find(exchange)) connection->answer(response);
}
void Server::begin(ExchangeId exchange, const Response& head) {
  if (const auto connection = impl_->find(exchange)) connection->begin(head);
}
bool Server::send(ExchangeId exchange, std::string_view bytes) {
  const auto connection = impl_->find(exchange);
  return connection == nullptr || connection->send(bytes);
}
void Server::end(ExchangeId exchange) {
  if (const auto connection = impl_->find(exchange)) connection->end();
}
void Server::abandon(ExchangeId exchange) {
  if (const auto connection = impl_->find(exchange)) connection->abandon();
}

CallId Server::call(std::uint16_t port, std::string request, double seconds, CallHandler& by) {
  return impl_->call(port, std::move(request), seconds, by);
}
void Server::hold(CallId call, bool held) {
  if (const auto open = impl_->find_call(call)) open->hold(held);
}
void Server::cancel(CallId call) {
  if (const auto open = impl_->find_call(call)) open->close();
}

}  // namespace assay::net
