#pragma once

// One connection of the server. Included by net's sources alone: it brings Boost.Asio.

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include <boost/asio/ip/tcp.hpp>

#include "assay/net/server.h"

namespace assay::net {

class Connection;

// What a connection asks of its server.
class Host {
 public:
  virtual ~Host() = default;
  virtual const ServerOptions& options() const = 0;
  virtual bool draining() const = 0;
  virtual std::size_t& unfinished_bytes() = 0;  // Of bodies, over all connections.
  virtual std::string& read_buffer() = 0;       // One for all: what is read is used at once.
  virtual std::string& joined() = 0;            // Likewise, for what one write sends.
  // A request has come whole; its exchange is `connection`'s from now on.
  virtual ExchangeId opened(const std::shared_ptr<Connection>& connection) = 0;
  virtual void ended(ExchangeId exchange) = 0;
  virtual void closed(Connection& connection) = 0;
  virtual Handler& handler() = 0;
};

// It reads by waiting until its socket can be read: an idle connection owns no buffer.
class Connection : public std::enable_shared_from_this<Connection> {
 public:
  using Socket = boost::asio::ip::tcp::socket;

  Connection(Socket socket, Host& host);

  void start();
  void refuse(const Refusal& refusal);  // Answers, then closes once the peer has read it.
  void answer(const Response& response);
  void begin(const Response& head);
  bool send(std::string_view bytes);
  void end();
  void abandon();
  void drain();  // Closes an idle one.
  bool is_due(std::int64_t now_ns) const { return now_ns >= deadline_ns_; }
  void meet_deadline();
  bool at_rest() const { return exchange_ == 0 && waiting_.empty(); }
  int descriptor() { return socket_.native_handle(); }

 private:
  enum class State { reading, answering, closing, closed };

  void wait_readable();
  void readable();
  void take(std::string_view bytes);
  void feed(std::string_view bytes);
  bool count_body(std::size_t bytes);  // False: all connections together hold too much.
  void dispatch();
  void peer_finished();
  void await_stream();
  void write(std::string_view first, std::string_view second = {}, std::string_view third = {});
  std::size_t write_now(std::string_view bytes);
  void wait_writable();
  void writable();
  void written();
  void answered();
  void linger();
  void broken();
  void close(bool reset);
  void set_deadline(double seconds);

  Socket socket_;
  Host& host_;
  RequestReader reader_;
  State state_ = State::reading;
  ExchangeId exchange_ = 0;   // 0: none.
  std::string pipelined_;     // Behind the request that is answered.
  std::string waiting_;       // For the peer to take it.
  std::string waiting_head_;  // Of a stream of which nothing was sent yet.
  std::int64_t deadline_ns_ = 0;
  std::size_t counted_ = 0;  // Of its body, in the host's sum.
  bool keep_alive_ = true;
  bool chunked_ = false;  // The stream that is sent.
  bool streaming_ = false;
  bool old_peer_ = false;   // HTTP/1.0.
  bool head_only_ = false;  // HEAD: no body is sent.
  bool ending_ = false;     // Nothing follows what waits.
  bool held_ = false;       // Its reader is slow, and its sender knows.
  bool finished_ = false;   // The peer sends nothing more.
  bool feeding_ = false;
  bool deadline_in_head_ = false;
  bool read_waits_ = false, write_waits_ = false;
};

}  // namespace assay::net
