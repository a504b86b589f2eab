#pragma once

// Reads requests from bytes as they arrive, and refuses whatever two readers could understand in
// two ways: that is how requests are smuggled past a proxy. It is stricter than RFC 9112 where it
// may be.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "assay/net/chunk_reader.h"
#include "assay/net/http.h"

namespace assay::net {

struct HttpLimits {
  std::size_t head_bytes = 16 << 10;   // Request line and headers.
  std::size_t target_bytes = 8 << 10;  // Of the request line.
  int headers = 100;
  std::size_t body_bytes = 4 << 20;  // Without its framing.
};

// The transport rules over a parsed head: why it is refused, if it is.
std::optional<Refusal> refuse_head(const Request& request, const HttpLimits& limits);

class RequestReader {
 public:
  enum class State { head, body, done, refused };

  explicit RequestReader(const HttpLimits& limits) : limits_(limits), chunks_(limits.body_bytes) {}

  // How many of `bytes` were used. Those behind a whole request are the next one's.
  std::size_t take(std::string_view bytes);

  State state() const { return state_; }
  bool begun() const { return state_ != State::head || !head_.empty(); }
  std::size_t body_bytes() const { return request_.body.size(); }  // So far.
  const Refusal& refusal() const { return refusal_; }
  // Whether the peer waits for "100 Continue" before it sends its body. Asked once per head.
  bool take_expectation() { return std::exchange(expects_continue_, false); }
  // The request that is done; the reader begins anew.
  Request release();

 private:
  std::size_t take_line_part(std::string_view bytes);
  std::size_t take_head(std::string_view bytes);
  std::size_t take_body(std::string_view bytes);
  void end_head();
  bool read_lines(std::string_view head);
  bool read_request_line(std::string_view line);
  bool read_header(std::string_view line);
  bool refuse(int status, std::string sentence);

  HttpLimits limits_;
  State state_ = State::head;
  Refusal refusal_;
  std::string head_;
  Request request_;
  std::size_t body_left_ = 0;
  bool chunked_ = false;
  bool expects_continue_ = false;
  ChunkReader chunks_;
};

}  // namespace assay::net
