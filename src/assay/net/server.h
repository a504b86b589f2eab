#pragma once

// An HTTP server of one thread. Whoever answers never sees a socket: exchanges have numbers.

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "assay/base/result.h"
#include "assay/net/call.h"
#include "assay/net/http.h"
#include "assay/net/request_reader.h"

namespace assay::net {

using ExchangeId = std::uint64_t;  // Of one request and its answer; never used again.

struct ServerOptions {
  std::string host = "127.0.0.1";  // An address, or "localhost".
  std::uint16_t port = 8000;       // 0: a free one.
  HttpLimits limits;
  int connections = 16384;  // At once; more are answered 503.
  // Of all bodies that have come in part; who sends more is answered 503.
  std::size_t unfinished_bytes = 256 << 20;
  double idle_seconds = 75;  // Between requests of one connection.
  double head_seconds = 10;  // From a head's first byte to its last.
  double body_seconds = 30;  // For a body.
  // A peer that takes nothing for so long is cut off; and one that sent FIN, while a stream is
  // silent.
  double reader_seconds = 30;
  double half_closed_seconds = 2;     // A whole answer is owed to a peer that sent FIN for so long.
  std::size_t held_bytes = 64 << 10;  // Waiting for a slow reader: then send() says so.
};

// What a server calls, all in its thread. None of them may throw.
class Handler {
 public:
  virtual ~Handler() = default;
  // Each request gets answer(), or begin() and later end(), or abandon().
  virtual void on_request(ExchangeId exchange, Request request) = 0;
  virtual void on_gone(ExchangeId exchange) = 0;  // The peer left; its number is void.
  virtual void on_room(ExchangeId exchange) = 0;  // A slow reader has caught up.
  virtual void on_time() = 0;                     // What wake_at() asked for.
  // The answer to a request that broke a transport rule; it is not seen otherwise.
  virtual Response on_refusal(const Refusal& refusal) = 0;
};

// Where answers go; a server in all but tests of who answers. A number that is void is ignored.
class Outlet {
 public:
  virtual ~Outlet() = default;
  virtual void answer(ExchangeId exchange, const Response& response) = 0;
  // A stream begins: what follows by send() are its bytes, one write each.
  virtual void begin(ExchangeId exchange, const Response& head) = 0;
  // False: the reader is slow. What was given is kept; more is best given after on_room().
  virtual bool send(ExchangeId exchange, std::string_view bytes) = 0;
  virtual void end(ExchangeId exchange) = 0;
  virtual void abandon(ExchangeId exchange) = 0;  // Cuts the connection; no on_gone() follows.
  // Calls on_time() then, of monotonic_ns(). A new time replaces that before.
  virtual void wake_at(std::int64_t at_ns) = 0;
};

class Server final : public Outlet, public Caller {
 public:
  // Errors: invalid_input (no address), machine (the port is taken).
  static Result<std::unique_ptr<Server>> listen(const ServerOptions& options, Handler& handler);
  ~Server() override;

  std::uint16_t port() const;
  void run();   // Until stop(), or until a drain has ended.
  void stop();  // Drops every connection.

  // Connections end after the answer that is under way, and idle ones now. run() returns when no
  // answer is left, or after so many seconds.
  void drain(double seconds);
  bool at_rest() const;  // No answer is under way, and no byte of one waits.
  void wake_at(std::int64_t at_ns) override;

  // Calls `readable` whenever the descriptor, which stays the caller's, can be read.
  void watch(int fd, std::function<void()> readable);
  // Calls `act` once what is to be done now has been done.
  void soon(std::function<void()> act);

  void answer(ExchangeId exchange, const Response& response) override;
  void begin(ExchangeId exchange, const Response& head) override;
  bool send(ExchangeId exchange, std::string_view bytes) override;
  void end(ExchangeId exchange) override;
  void abandon(ExchangeId exchange) override;

  CallId call(std::uint16_t port, std::string request, double seconds, CallHandler& by) override;
  void hold(CallId call, bool held) override;
  void cancel(CallId call) override;

 private:
  class Impl;
  explicit Server(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace assay::net
