#pragma once

// A request's bytes: the same prompt under the same plan gives the same ones.

#include <cstdint>
#include <string>
#include <string_view>

#include "assay/base/json.h"
#include "assay/load/plan.h"

namespace assay::load {

// What a model is asked, and how long its answer shall be.
struct Ask {
  Json messages = Json::array();   // Of a chat; a completion's prompt is the texts of them.
  std::int64_t output_tokens = 0;  // At most; 0: as the server likes.
};

std::string request_body(const RequestShape& shape, const Ask& ask);

// "/v1/chat/completions" behind the base URL's path, which may end in /v1 itself.
std::string endpoint_path(const net::Url& server, std::string_view endpoint);

// Requests of one plan: head and body.
class RequestBytes {
 public:
  explicit RequestBytes(const LoadPlan& plan);
  std::string make(std::string_view request_id, std::string_view body) const;

 private:
  std::string head_;  // The lines that all have in common.
};

// Headers of every request: those of the user, and the key.
std::vector<net::Header> common_headers(const RequestShape& shape);

}  // namespace assay::load
