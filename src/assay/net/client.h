#pragma once

// An HTTP client of one thread for many connections to one server. Whoever asks never sees a
// socket: connections have numbers. Bytes that arrive carry the time at which the kernel took them
// from the network, so that a busy reader does not add its own delay to them.

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "assay/base/result.h"
#include "assay/net/response_reader.h"
#include "assay/net/url.h"

namespace assay::net {

using ConnectionId = std::uint64_t;  // Never used again.

// When bytes came, of monotonic_ns().
struct Arrival {
  std::int64_t at_ns = 0;    // By the kernel's receive stamp; read_ns where there is none.
  std::int64_t read_ns = 0;  // When we took them.
};

// What a client calls, all in its thread. None of them may throw.
class ClientHandler {
 public:
  virtual ~ClientHandler() = default;
  virtual void on_connected(ConnectionId connection) = 0;
  // Part of an answer's body, without its framing; may be called with nothing when the head came.
  virtual void on_body(ConnectionId connection, const ResponseHead& head, std::string_view bytes,
                       const Arrival& arrival) = 0;
  // The answer is whole. If the connection does not stay, its number is void.
  virtual void on_answer(ConnectionId connection, const ResponseHead& head, bool stays,
                         const Arrival& arrival) = 0;
  // The connection is gone, and its number void: why, and whether an answer was awaited.
  virtual void on_closed(ConnectionId connection, const Error& why, bool answer_awaited,
                         const Arrival& arrival) = 0;
  virtual void on_time() = 0;  // What wake_at() asked for.
};

struct ClientOptions {
  std::string ca_file;  // For TLS: whom to trust; empty: whom the system trusts.
  double connect_seconds = 10;
};

class Client {
 public:
  // Looks the host up. Errors: invalid_input (no such host, a CA file that is none), machine.
  static Result<std::unique_ptr<Client>> create(const Url& server, const ClientOptions& options,
                                                ClientHandler& handler);
  ~Client();

  // Begins to connect; on_connected() or on_closed() follows, never within the call. An error
  // (machine) where no descriptor or port is left.
  Result<ConnectionId> connect();
  // Sends a whole request over a connection that is connected and awaits nothing. The time is taken
  // before the first byte leaves; an error reaches on_closed() later.
  std::int64_t send(ConnectionId connection, std::string_view request);
  void close(ConnectionId connection);  // No on_closed() follows.

  std::size_t connections() const;

  // Calls on_time() then, of monotonic_ns(), by a timer of absolute times. A new time replaces that
  // before.
  void wake_at(std::int64_t at_ns);
  // Calls `readable` whenever the descriptor, which stays the caller's, can be read.
  Status watch(int fd, std::function<void()> readable);

  Status run();  // Until stop().
  void stop();

 private:
  class Impl;
  explicit Client(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace assay::net
