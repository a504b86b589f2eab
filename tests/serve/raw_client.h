#pragma once

// A client that sends any bytes, as no library would.

#include <cstdint>
#include <string>
#include <string_view>

#include "assay/base/fd.h"

namespace assay::serve_tests {

class RawClient {
 public:
  explicit RawClient(std::uint16_t port);  // Connected, or failed().

  bool failed() const { return !fd_.valid(); }
  void send(std::string_view bytes);  // A peer that has closed is no error.
  void finish();                      // FIN: nothing more will be sent.
  void reset();                       // RST.
  // What comes until `end` has, or the peer closes.
  std::string read_until(std::string_view end);
  std::string read_all() { return read_until({}); }
  std::size_t read_bytes(std::size_t count);  // How many of so many came.
  // One answer whose length its head tells, head and body.
  std::string read_answer();
  bool closed_by_peer() const { return closed_; }

 private:
  bool read_more();

  UniqueFd fd_;
  std::string buffer_;
  bool closed_ = false;
};

int status_of(std::string_view answer);  // 0: no answer.
std::string_view body_of(std::string_view answer);
std::string get(std::string_view target);
std::string post(std::string_view target, std::string_view body, std::string_view headers = {});
// The bytes behind the chunked coding.
std::string dechunked(std::string_view body);

}  // namespace assay::serve_tests
