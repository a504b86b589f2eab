#pragma once

// Where a server is, as a user writes it.

#include <cstdint>
#include <string>
#include <string_view>

#include "assay/base/result.h"

namespace assay::net {

struct Url {
  bool tls = false;
  std::string host;  // Without the brackets of an IPv6 address.
  std::uint16_t port = 80;
  std::string path;  // Without a slash at its end; may be empty.

  std::string authority() const;  // "127.0.0.1:8000": what the Host header says.
};

// "http://127.0.0.1:8000/v1". Errors: another scheme, a user and password, a query, no host, a port
// that is none. None of them repeats what stands before an '@'.
Result<Url> parse_url(std::string_view text);

}  // namespace assay::net
