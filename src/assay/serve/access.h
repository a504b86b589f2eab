#pragma once

// Who may ask: the key, and pages of other sites.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "assay/base/hash.h"
#include "assay/net/http.h"
#include "assay/serve/api_error.h"
#include "assay/serve/routes.h"

namespace assay::serve {

// A key, kept as its digest and compared in a time that says nothing of it.
class ApiKey {
 public:
  explicit ApiKey(std::string_view key);
  bool is(std::string_view offered) const;

 private:
  Sha256Digest digest_;
};

class Gate {
 public:
  Gate(std::optional<ApiKey> key, std::vector<std::string> origins)
      : key_(std::move(key)), origins_(std::move(origins)) {}

  // Why this request may not come in, if so.
  std::optional<ApiError> refuse(const net::Request& request, Access access) const;
  // The origin of the page that asks, if it may; empty if no page asks.
  std::string allowed_origin(const net::Request& request) const;
  bool has_key() const { return key_.has_value(); }

 private:
  std::optional<ApiError> refuse_origin(const net::Request& request) const;

  std::optional<ApiKey> key_;
  std::vector<std::string> origins_;  // Of pages that may ask.
};

// Whether what is sent calls itself JSON, uncompressed. A browser sends anything else unasked.
std::optional<ApiError> refuse_media_type(const net::Request& request);

}  // namespace assay::serve
