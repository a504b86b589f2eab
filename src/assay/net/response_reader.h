#pragma once

// An answer of HTTP/1.1, read as strictly as requests are: framing that two readers could
// understand in two ways is refused.

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "assay/net/chunk_reader.h"
#include "assay/net/http.h"

namespace assay::net {

struct ResponseHead {
  int status = 0;
  int minor = 1;                // HTTP/1.0 or HTTP/1.1.
  std::vector<Header> headers;  // Names in lower case.

  const std::string* find(std::string_view name) const;  // The first; null if there is none.
  bool keeps_alive() const;
};

class ResponseReader {
 public:
  enum class State { head, body, done, refused };

  // Appends the body's bytes, without their framing, to `body`. How many of `bytes` were used.
  std::size_t take(std::string_view bytes, std::string& body);
  // The peer has closed: done where that ends the body, else refused.
  void finish();
  void reset();  // For the next answer of the connection.

  State state() const { return state_; }
  bool begun() const { return begun_; }
  bool has_head() const { return state_ == State::body || state_ == State::done; }
  const ResponseHead& head() const { return head_; }
  ResponseHead release_head() { return std::exchange(head_, {}); }
  const std::string& refusal() const { return refusal_; }  // A sentence.

 private:
  void take_head(std::string_view text);
  void refuse(std::string sentence);
  void choose_framing();

  State state_ = State::head;
  bool begun_ = false, until_close_ = false;
  std::string text_;  // Of a head that is not whole.
  ResponseHead head_;
  std::optional<ChunkReader> chunks_;
  std::size_t left_ = 0;
  std::string refusal_;
};

}  // namespace assay::net
